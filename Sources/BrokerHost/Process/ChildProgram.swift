import BrokerSystem
import CBrokerLinux
import Glibc
import Synchronization

/// A program run in a process of its own, without a shell, without input, and without the broker's descriptors.
///
/// It is started by a thread without descriptors. A process that begins with copies closes them before it becomes the program,
/// and an unread message of a client can block that for hours: a lingering socket, a file of a FUSE server (docs/decisions/0003).
package struct ChildProgram: Sendable {
    /// The program, searched in `$PATH` unless it contains a slash, and its arguments.
    package let words: [String]
    /// Whether it runs in a session of its own: then it outlives the broker's terminal, and cannot prompt there.
    package var hasOwnSession = false
    /// The most bytes of output that are accepted; with more than that it counts as failed. 0 discards the output.
    package var longestOutput = 0

    package enum Ending: Sendable, Equatable {
        /// - Parameter isWell: whether it exited with 0, and its output is not too long.
        case ended(isWell: Bool, output: [UInt8])
        /// - Parameter code: the errno of the failure.
        case notStarted(code: Int32)
        /// It was not started, or killed.
        case cancelled

        package var isWell: Bool { if case .ended(true, _) = self { true } else { false } }
    }

    package init(words: [String], hasOwnSession: Bool = false, longestOutput: Int = 0) {
        self.words = words
        self.hasOwnSession = hasOwnSession
        self.longestOutput = longestOutput
    }

    /// - Returns: its end, or that the task was canceled: then it is killed, and its session if it has its own.
    package func run() async -> Ending {
        let run = Run(endsGroup: hasOwnSession)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                guard run.begin(waiter) else { return }
                let code = DetachedThread.start { run.end(with: runHere(run)) }
                if code != 0 { run.end(with: .notStarted(code: code)) }
            }
        } onCancel: {
            run.cancel()
        }
    }

    /// Runs on a thread of its own that is not joined: it stays as long as the program, and any process with the output open.
    private func runHere(_ run: Run) -> Ending {
        let left = broker_leave_descriptors()
        guard left == 0 else { return .notStarted(code: left) }
        var ends: [Int32] = [-1, -1]
        guard longestOutput == 0 || pipe(&ends) == 0 else { return .notStarted(code: errno) }
        defer { if ends[0] >= 0 { close(ends[0]) } }
        for end in ends where end >= 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        guard !run.isCancelled else { return .cancelled }
        let started = Result { () throws(ProcessStart.Failure) in try start(printingTo: ends[1]) }
        if ends[1] >= 0 { close(ends[1]) }
        let process: pid_t
        switch started {
        case .success(let number): process = number
        case .failure(let failure): return .notStarted(code: failure.code)
        }
        run.started(process)
        let output = ends[0] >= 0 ? readFile(ends[0], atMost: longestOutput) : []
        let isWhole = output.map { $0.count <= longestOutput } ?? false
        if !isWhole { run.kill() }
        var end = siginfo_t()
        while waitid(P_PID, id_t(process), &end, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        run.reap(process)
        guard let output, isWhole else { return .ended(isWell: false, output: []) }
        return .ended(isWell: end.si_code == CLD_EXITED && end._sifields._sigchld.si_status == 0, output: output)
    }

    private func start(printingTo output: Int32) throws(ProcessStart.Failure) -> pid_t {
        var program = ProcessStart(words)
        program.environment = Self.environment
        program.streams = [0: .nothing, 1: output >= 0 ? .descriptor(output) : .nothing, 2: .nothing]
        program.group = hasOwnSession ? .ownSession : .shared
        return try program.start()
    }

    /// This process's initial environment, without systemd's variables for this process alone.
    private static var environment: [String: String] {
        ProcessEnvironment.atStart.filter { !ownVariables.contains($0.key) }
    }

    private static let ownVariables: Set<String> = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
        "STATE_DIRECTORY", "RUNTIME_DIRECTORY", "CREDENTIALS_DIRECTORY", "INVOCATION_ID", "JOURNAL_STREAM",
    ]
}

/// One run of a program: the waiting task, and the process until it is reaped, as its number may be reused afterwards.
private final class Run: Sendable {
    private struct State {
        var waiter: CheckedContinuation<ChildProgram.Ending, Never>?
        var process: pid_t?
        var isCancelled = false
    }

    private let endsGroup: Bool
    private let state = Mutex(State())

    init(endsGroup: Bool) { self.endsGroup = endsGroup }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// - Returns: false if it was canceled already.
    func begin(_ waiter: CheckedContinuation<ChildProgram.Ending, Never>) -> Bool {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.waiter = waiter }
            return state.isCancelled
        }
        if isCancelled { waiter.resume(returning: .cancelled) }
        return !isCancelled
    }

    func started(_ process: pid_t) {
        let isCancelled = state.withLock { state in
            state.process = process
            return state.isCancelled
        }
        if isCancelled { kill() }
    }

    func kill() {
        state.withLock { state in
            guard let process = state.process else { return }
            _ = endsGroup ? killpg(process, SIGKILL) : Glibc.kill(process, SIGKILL)
        }
    }

    func reap(_ process: pid_t) {
        state.withLock { state in
            state.process = nil
            while waitpid(process, nil, 0) < 0, errno == EINTR {}
        }
    }

    /// Resumes the waiting task with the ending, or with ``ChildProgram/Ending/cancelled`` if the run was canceled, which may be
    /// why it ended. Later calls have no effect.
    func end(with ending: ChildProgram.Ending) {
        let (waiter, isCancelled) = state.withLock { state in
            defer { state.waiter = nil }
            return (state.waiter, state.isCancelled)
        }
        waiter?.resume(returning: isCancelled ? .cancelled : ending)
    }

    /// Kills the process, and resumes the waiting task without waiting for the thread.
    func cancel() {
        state.withLock { $0.isCancelled = true }
        kill()
        end(with: .cancelled)
    }
}

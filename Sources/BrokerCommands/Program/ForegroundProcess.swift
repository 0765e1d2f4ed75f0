import BrokerCommandLine
import BrokerLink
import BrokerSystem
import Glibc
import Synchronization

/// A program that owns the terminal while it runs; this one waits to clean up after it.
enum ForegroundProcess {
    private static let child = Atomic<Int32>(0)
    /// A signal that arrived before the child was started.
    private static let early = Atomic<Int32>(0)

    /// The terminal's signals (SIGINT, SIGQUIT) reach the child directly, so this program ignores them; SIGTERM and SIGHUP
    /// are forwarded.
    static func takeSignals() {
        for number in [SIGINT, SIGQUIT] { Interrupt.take(number) { _ in } }
        for number in [SIGTERM, SIGHUP] { Interrupt.take(number, handOn) }
    }

    /// Leaves the terminal's signals to a program that the body runs, such as an editor that takes Ctrl-C for a key. Afterwards they
    /// end this program as before.
    static func outlivingInterrupts<Value>(
        _ body: () throws(BrokerClientError) -> Value
    ) throws(BrokerClientError) -> Value {
        let earlier = [SIGINT, SIGQUIT].map { number in
            var action = sigaction()
            sigaction(number, nil, &action)
            Interrupt.take(number) { _ in }
            return (number, action)
        }
        defer { for (number, var action) in earlier { sigaction(number, &action, nil) } }
        return try body()
    }

    /// Whether SIGTERM or SIGHUP arrived while there was no child.
    static var isAskedToEnd: Bool { statusOfSignal != nil }

    /// 128 and the number of that signal.
    static var statusOfSignal: Int32? {
        let signal = early.load(ordering: .sequentiallyConsistent)
        return signal == 0 ? nil : 128 + signal
    }

    /// Starts a program that shares the terminal, without waiting.
    ///
    /// - Throws: when there is no such program.
    static func start(
        _ words: [String], streams: [Int32: ProcessStart.Stream] = [:]
    ) throws(BrokerClientError) -> pid_t {
        var program = ProcessStart(words, sharesSignals: true)
        program.streams = streams
        do throws(ProcessStart.Failure) {
            return try program.start()
        } catch {
            let cure = error.code == ENOENT ? " Install it, or put its folder into PATH." : ""
            throw BrokerClientError(
                .unsupported, "\(words[0].clean) cannot be started: \(errnoText(error.code)).\(cure)")
        }
    }

    /// - Returns: the exit status, 128 and the number for a signal.
    /// - Throws: when there is no such program.
    static func run(
        _ words: [String], streams: [Int32: ProcessStart.Stream] = [:]
    ) throws(BrokerClientError) -> Int32 {
        let pid = try start(words, streams: streams)
        child.store(pid, ordering: .sequentiallyConsistent)
        let signal = early.load(ordering: .sequentiallyConsistent)
        if signal != 0 { kill(pid, signal) }
        // It is reaped only after no signal can be sent to it: its pid may then belong to another process.
        var facts = siginfo_t()
        while waitid(P_PID, id_t(pid), &facts, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        child.store(0, ordering: .sequentiallyConsistent)
        return exitStatus(of: pid)
    }

    private static let handOn: @convention(c) (Int32) -> Void = { number in
        let pid = child.load(ordering: .sequentiallyConsistent)
        if pid > 0 { kill(pid, number) } else { early.store(number, ordering: .sequentiallyConsistent) }
    }
}

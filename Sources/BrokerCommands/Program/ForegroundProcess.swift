import BrokerLink
import BrokerSystem
import Glibc
import Synchronization

/// A program that has this one's terminal for as long as it runs, while this one waits to put things in order after it.
enum ForegroundProcess {
    private static let child = Atomic<Int32>(0)
    /// A signal that came before there was a child.
    private static let early = Atomic<Int32>(0)

    /// What the terminal sends (SIGINT, SIGQUIT) reaches the child by itself, and is nothing to this program; SIGTERM and
    /// SIGHUP are handed on.
    static func takeSignals() {
        for number in [SIGINT, SIGQUIT] { take(number) { _ in } }
        for number in [SIGTERM, SIGHUP] { take(number, handOn) }
    }

    /// Whether SIGTERM or SIGHUP came while there was no child to hand it to.
    static var isAskedToEnd: Bool { statusOfSignal != nil }

    /// 128 and the number of that signal.
    static var statusOfSignal: Int32? {
        let signal = early.load(ordering: .sequentiallyConsistent)
        return signal == 0 ? nil : 128 + signal
    }

    /// Starts a program that shares the terminal, and waits for nothing.
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
        // It is left unburied until no signal can be sent to it any more: its number may be another's then.
        var facts = siginfo_t()
        while waitid(P_PID, id_t(pid), &facts, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        child.store(0, ordering: .sequentiallyConsistent)
        return exitStatus(of: pid)
    }

    /// What was ignored from the start (nohup) stays so, here and there; what is handled here is the child's own again.
    private static func take(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
        var action = sigaction()
        sigaction(number, nil, &action)
        // SIG_IGN is no pointer to anything, but 1.
        let isIgnored = withUnsafeBytes(of: action.__sigaction_handler) { $0.load(as: UInt.self) == 1 }
        if !isIgnored { signal(number, handler) }
    }

    private static let handOn: @convention(c) (Int32) -> Void = { number in
        let pid = child.load(ordering: .sequentiallyConsistent)
        if pid > 0 { kill(pid, number) } else { early.store(number, ordering: .sequentiallyConsistent) }
    }
}

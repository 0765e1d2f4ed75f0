import BrokerSystem
import Glibc

/// Makes polkit ask on this terminal, as systemctl does, for users without a desktop.
struct TerminalAgent {
    private let pid: pid_t

    /// - Returns: `nil` if there is no terminal or no `pkttyagent`.
    static func start() -> TerminalAgent? {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return nil }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        let words = ["pkttyagent", "--process", "\(getpid())", "--notify-fd", "\(ends[1])"]
        let pid = try? ProcessStart(words, sharesSignals: true).start()
        close(ends[1])
        guard let pid else { return nil }
        // It closes its end when it is ready, or when it fails.
        var byte: UInt8 = 0
        while read(ends[0], &byte, 1) < 0, errno == EINTR {}
        return TerminalAgent(pid: pid)
    }

    private init(pid: pid_t) { self.pid = pid }

    func end() {
        kill(pid, SIGTERM)
        _ = exitStatus(of: pid)
    }
}

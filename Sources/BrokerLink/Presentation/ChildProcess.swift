import BrokerSystem
import Glibc

/// A program started without a shell, in a session of its own, so that Ctrl-C in the terminal does not end a browser.
package struct ChildProcess: Sendable {
    private let pid: pid_t

    /// Starts the program `arguments[0]`, looked up in `PATH`. Without more it reads nothing, and what it prints is dropped:
    /// the terminal belongs to the application.
    ///
    /// - Parameters:
    ///   - input: a descriptor that it reads.
    ///   - output: a descriptor that takes standard output instead.
    ///   - errors: one that takes standard error instead.
    ///   - environment: variables that it gets besides, or instead of, this process's.
    /// - Returns: nil when there is no such program, or it cannot be started.
    package static func start(
        _ arguments: [String], input: Int32? = nil, output: Int32? = nil, errors: Int32? = nil,
        environment: [String: String] = [:]
    ) -> ChildProcess? {
        var program = ProcessStart(arguments)
        program.environment = ProcessEnvironment.current().merging(environment) { $1 }
        for (stream, taker) in [(STDIN_FILENO, input), (STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
            program.streams[stream] = taker.map { .descriptor($0) } ?? .nothing
        }
        // Files and ports that the application opened without CLOEXEC would live on in the browser.
        program.closing = openDescriptors().filter { $0 > STDERR_FILENO }
        program.group = .ownSession
        return (try? program.start()).map(ChildProcess.init(pid:))
    }

    private static func openDescriptors() -> [Int32] {
        ((try? FolderNames(of: "/proc/self/fd"))?.names ?? []).compactMap { Int32($0) }
    }

    /// The exit status when the program has ended (128 + n for signal n), nil while it runs.
    ///
    /// Where the application lets the kernel collect its children (SIGCHLD ignored) nobody learns how they ended; that
    /// counts as well.
    func pollExit() -> Int32? {
        exitStatusNow(of: pid)
    }

    /// The first 4096 bytes that a program prints, when it ends well; for programs that answer at once. Waits on a thread
    /// of its own.
    package static func output(of arguments: [String]) async -> String? {
        await withCheckedContinuation { continuation in
            let status = DetachedThread.start { continuation.resume(returning: run(arguments)) }
            if status != 0 { continuation.resume(returning: nil) }
        }
    }

    private static func run(_ arguments: [String]) -> String? {
        report(of: arguments).flatMap { $0.status == 0 ? $0.text : nil }
    }

    /// How a program ended (128 + n for signal n), and the first bytes that it printed. It blocks, and is for programs that
    /// answer at once.
    ///
    /// - Parameters:
    ///   - includingErrors: whether standard error counts as printed.
    ///   - most: how many bytes are of interest.
    ///   - running: is given the program when it runs, and nil before its number may be another's.
    /// - Returns: nil when there is no such program.
    package static func report(
        of arguments: [String], includingErrors: Bool = false, atMost most: Int = 4096,
        running: (ChildProcess?) -> Void = { _ in }
    ) -> (status: Int32, text: String)? {
        guard let ends = connection() else { return nil }
        defer { close(ends[0]) }
        let child = start(arguments, output: ends[1], errors: includingErrors ? ends[1] : nil)
        close(ends[1])
        guard let child else { return nil }
        running(child)
        var bytes = [UInt8](repeating: 0, count: most)
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                read(ends[0], $0.baseAddress.map { $0 + filled }, $0.count - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            filled += count
        }
        running(nil)
        return (exitStatus(of: child.pid), String(decoding: bytes.prefix(filled), as: UTF8.self))
    }

    /// Two ends of a connection that no other child inherits; pipe2 is out of reach without _GNU_SOURCE.
    package static func connection() -> [Int32]? {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        return socketpair(AF_UNIX, kind, 0, &ends) == 0 ? ends : nil
    }

    /// Whether it has something to do before it ends when it is interrupted; only while nobody has taken its exit status.
    func handlesInterrupt() -> Bool {
        guard let status = try? readFile(at: "/proc/\(pid)/status", atMost: 64 << 10, isTrusted: false) else {
            return true
        }
        // A mask of 64 bits, SIGHUP the lowest: "SigCgt:\t0000000000000002" (proc_pid_status(5)).
        let words = String(decoding: status, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard let title = words.firstIndex(of: "SigCgt:"), title + 1 < words.count,
            let mask = UInt64(words[title + 1], radix: 16)
        else { return true }
        return mask >> UInt64(SIGINT - 1) & 1 == 1
    }

    /// Asks it to end, as Ctrl-C does; only while nobody has taken its exit status.
    package func interrupt() { kill(pid, SIGINT) }

    /// Waits for the end on a thread of its own, so that no zombie stays.
    package func reapLater() {
        let pid = pid
        // Without a thread to spare the zombie stays until this process ends.
        _ = DetachedThread.start { _ = exitStatus(of: pid) }
    }
}

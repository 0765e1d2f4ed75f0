import BrokerSystem
import Glibc

/// A program started without a shell, in a session of its own, so that Ctrl-C in the terminal does not end a browser.
package struct ChildProcess: Sendable {
    private let pid: pid_t

    /// Starts the program `arguments[0]`, looked up in `PATH`. By default it has no input, and its output is discarded:
    /// the terminal belongs to the application.
    ///
    /// - Parameter environment: variables that are added to this process's, or replace them.
    /// - Returns: `nil` if there is no such program, or it cannot be started.
    package static func start(
        _ arguments: [String], input: Int32? = nil, output: Int32? = nil, errors: Int32? = nil,
        environment: [String: String] = [:]
    ) -> ChildProcess? {
        var program = ProcessStart(arguments)
        program.environment = ProcessEnvironment.current().merging(environment) { $1 }
        for (stream, taker) in [(STDIN_FILENO, input), (STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
            program.streams[stream] = taker.map { .descriptor($0) } ?? .nothing
        }
        // Files and ports that the application opened without CLOEXEC would stay open in the browser.
        program.closing = openDescriptors().filter { $0 > STDERR_FILENO }
        program.group = .ownSession
        return (try? program.start()).map(ChildProcess.init(pid:))
    }

    private static func openDescriptors() -> [Int32] {
        ((try? FolderNames(of: "/proc/self/fd"))?.names ?? []).compactMap { Int32($0) }
    }

    /// The exit status if the program has ended (128 + n for signal n), `nil` while it runs.
    ///
    /// If the application lets the kernel reap its children (SIGCHLD ignored), their exit status is lost; that counts as
    /// ended as well.
    func pollExit() -> Int32? {
        exitStatusNow(of: pid)
    }

    /// The first 4096 bytes of a program's output if it succeeds; for programs that answer at once.
    package static func output(of arguments: [String]) async -> String? {
        await reportLater(of: arguments).flatMap { $0.status == 0 ? $0.text : nil }
    }

    /// Like ``report(of:includingErrors:atMost:running:)``, on a separate thread.
    static func reportLater(of arguments: [String]) async -> (status: Int32, text: String)? {
        await withCheckedContinuation { continuation in
            let status = DetachedThread.start { continuation.resume(returning: report(of: arguments)) }
            if status != 0 { continuation.resume(returning: nil) }
        }
    }

    /// How a program ended (128 + n for signal n), and the first bytes of its output. It blocks, and is for programs that
    /// answer at once.
    ///
    /// - Parameters:
    ///   - includingErrors: whether standard error counts as output.
    ///   - most: the number of bytes to keep.
    ///   - running: receives the program when it runs, and `nil` before its pid may be reused.
    /// - Returns: `nil` if there is no such program.
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
        let bytes = readFile(ends[0], atMost: most) ?? []
        discardRest(of: ends[0])
        running(nil)
        return (exitStatus(of: child.pid), String(decoding: bytes.prefix(most), as: UTF8.self))
    }

    /// A child with more to write would wait for a reader, and never end.
    private static func discardRest(of descriptor: Int32) {
        var rest = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &rest, rest.count)
            guard count > 0 || count < 0 && errno == EINTR else { return }
        }
    }

    /// A socket pair that no other child inherits; pipe2 is unavailable without _GNU_SOURCE.
    package static func connection() -> [Int32]? {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        return socketpair(AF_UNIX, kind, 0, &ends) == 0 ? ends : nil
    }

    /// Whether it handles SIGINT; only before its exit status is collected.
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

    /// Sends SIGINT, like Ctrl-C; only before its exit status is collected.
    package func interrupt() { kill(pid, SIGINT) }

    /// Waits for the end on a separate thread, so that no zombie remains.
    package func reapLater() {
        let pid = pid
        // If no thread can be started, the zombie remains until this process ends.
        _ = DetachedThread.start { _ = exitStatus(of: pid) }
    }
}

import FoundationEssentials
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
        guard let program = arguments.first, !arguments.contains(where: { $0.utf8.contains(0) }) else { return nil }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (stream, taker) in [(STDIN_FILENO, input), (STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
            if let taker {
                posix_spawn_file_actions_adddup2(&actions, taker, stream)
            } else {
                let mode = stream == STDIN_FILENO ? O_RDONLY : O_WRONLY
                posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", mode, 0)
            }
        }
        // Files and ports that the application opened without CLOEXEC would live on in the browser.
        for descriptor in openDescriptors() where descriptor > STDERR_FILENO {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | newSession)

        var pid: pid_t = 0
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            .map { "\($0.key)=\($0.value)" }
        let status = withCStrings(arguments) { words in
            withCStrings(variables) { posix_spawnp(&pid, program, &actions, &attributes, words, $0) }
        }
        return status == 0 ? ChildProcess(pid: pid) : nil
    }

    private static func openDescriptors() -> [Int32] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).compactMap { Int32($0) }
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }

    /// `POSIX_SPAWN_SETSID`, which glibc shows only with `_GNU_SOURCE`.
    private static let newSession: Int16 = 0x80

    /// The exit status when the program has ended (128 + n for signal n), nil while it runs.
    ///
    /// Where the application lets the kernel collect its children (SIGCHLD ignored) nobody learns how they ended; that
    /// counts as well.
    func pollExit() -> Int32? {
        var status: Int32 = 0
        guard waitpid(pid, &status, WNOHANG) != 0 else { return nil }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
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
        var status: Int32 = 0
        while waitpid(child.pid, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return (
            signal == 0 ? (status >> 8) & 0xFF : 128 + signal, String(decoding: bytes.prefix(filled), as: UTF8.self)
        )
    }

    /// Two ends of a connection that no other child inherits; pipe2 is out of reach without _GNU_SOURCE.
    package static func connection() -> [Int32]? {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        return socketpair(AF_UNIX, kind, 0, &ends) == 0 ? ends : nil
    }

    /// Asks it to end, as Ctrl-C does; only while nobody has taken its exit status.
    package func interrupt() { kill(pid, SIGINT) }

    /// Waits for the end on a thread of its own, so that no zombie stays.
    package func reapLater() {
        let pid = pid
        // Without a thread to spare the zombie stays until this process ends.
        _ = DetachedThread.start {
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        }
    }
}

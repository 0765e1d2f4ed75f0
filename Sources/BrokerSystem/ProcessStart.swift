import Glibc

/// Starts a program in a new process, without a shell (posix_spawn(3)).
package struct ProcessStart: Sendable {
    package enum Stream: Sendable {
        /// `/dev/null`: reads nothing, and discards output.
        case nothing
        case descriptor(Int32)
        /// Appends to a file, which is created if necessary, for its owner only.
        case appended(String)
    }

    /// The process group, which receives the terminal's signals.
    package enum Group: Sendable {
        case shared
        case own
        /// A group of its own in a new session: it has no terminal, and outlives the session of this process.
        case ownSession
    }

    /// The errno of a failed start.
    package struct Failure: Error, Equatable {
        package let code: Int32
    }

    /// The program, searched in `$PATH` unless it contains a slash, and its arguments.
    package let words: [String]
    /// The program's environment; `nil` means that of this process.
    package var environment: [String: String]?
    /// The program's streams by their number; other streams are shared with this process.
    package var streams: [Int32: Stream] = [:]
    /// Descriptors of this process that it would otherwise inherit.
    package var closing: [Int32] = []
    package var group = Group.shared
    /// Whether it inherits the signals that this process blocks and ignores, for a program that takes over the terminal. Otherwise
    /// it blocks and ignores none.
    private let sharesSignals: Bool

    package init(_ words: [String], sharesSignals: Bool = false) {
        self.words = words
        self.sharesSignals = sharesSignals
    }

    /// Starts the program.
    ///
    /// - Returns: its process id, to be waited for.
    /// - Throws: EINVAL for a word or variable that would end at a zero byte.
    package func start() throws(Failure) -> pid_t {
        let variables = environment?.map { "\($0.key)=\($0.value)" }
        guard let program = words.first, !(words + (variables ?? [])).contains(where: { $0.utf8.contains(0) }) else {
            throw Failure(code: EINVAL)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        add(to: &actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        set(&attributes)

        var process: pid_t = 0
        let code = withCStrings(words) { words in
            guard let variables else { return posix_spawnp(&process, program, &actions, &attributes, words, environ) }
            return withCStrings(variables) { posix_spawnp(&process, program, &actions, &attributes, words, $0) }
        }
        guard code == 0 else { throw Failure(code: code) }
        return process
    }

    private func add(to actions: inout posix_spawn_file_actions_t) {
        for (number, stream) in streams.sorted(by: { $0.key < $1.key }) {
            switch stream {
            case .nothing:
                posix_spawn_file_actions_addopen(
                    &actions, number, "/dev/null", number == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0)
            case .descriptor(let descriptor):
                posix_spawn_file_actions_adddup2(&actions, descriptor, number)
            case .appended(let path):
                posix_spawn_file_actions_addopen(&actions, number, path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            }
        }
        for descriptor in closing { posix_spawn_file_actions_addclose(&actions, descriptor) }
    }

    private func set(_ attributes: inout posix_spawnattr_t) {
        var flags: Int32 = 0
        if !sharesSignals {
            var signals = sigset_t()
            sigemptyset(&signals)
            posix_spawnattr_setsigmask(&attributes, &signals)
            sigfillset(&signals)
            posix_spawnattr_setsigdefault(&attributes, &signals)
            flags |= POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        }
        switch group {
        case .shared: break
        case .own: flags |= POSIX_SPAWN_SETPGROUP
        case .ownSession: flags |= Self.newSession
        }
        posix_spawnattr_setflags(&attributes, Int16(flags))
    }

    /// `POSIX_SPAWN_SETSID`, which glibc shows only with `_GNU_SOURCE`.
    private static let newSession: Int32 = 0x80
}

/// Waits for a child, and reaps it.
///
/// - Returns: its exit status, or 128 plus the number of a signal. If the kernel reaps children (SIGCHLD ignored), the status is
///   unknown and counts as 0.
package func exitStatus(of process: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return exitStatus(status)
}

/// Reaps a child if it has ended, without waiting.
///
/// - Returns: its exit status as ``exitStatus(of:)``; `nil` while it runs.
package func exitStatusNow(of process: pid_t) -> Int32? {
    var status: Int32 = 0
    return waitpid(process, &status, WNOHANG) == 0 ? nil : exitStatus(status)
}

private func exitStatus(_ status: Int32) -> Int32 {
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
}

/// Copies of strings in the form of C's `argv` and `environ`, terminated by nil; freed after `body`.
package func withCStrings<Result>(_ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
}

import Foundation

/// `posix_spawn` with what every child of a test needs: a process group of its own, default signals, no inherited
/// descriptors but the one it is given.
enum Spawn {
    struct Child {
        var pid: pid_t
        /// Our end of its standard input; a socket, because writing to one that is closed can be told not to raise SIGPIPE.
        var input: Int32?
    }

    static func start(
        _ executable: String, _ arguments: [String], environment: [String: String], output: String, errors: String,
        hasInput: Bool, descriptor: Int32? = nil
    ) throws -> Child {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var ends: [Int32] = [-1, -1]
        if hasInput {
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw ProcessFailure("socketpair: errno \(errno)") }
            posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        let creating = O_WRONLY | O_CREAT | O_APPEND
        posix_spawn_file_actions_addopen(&actions, 1, output, creating, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, errors, creating, 0o600)
        if let descriptor { posix_spawn_file_actions_adddup2(&actions, descriptor, 3) }
        // Most are closed by exec; what another library opened without that flag is not to live on in a child.
        for open in openDescriptors() where open > (descriptor == nil ? 2 : 3) {
            posix_spawn_file_actions_addclose(&actions, open)
        }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

        let argv = arguments.map { strdup($0) } + [nil]
        let envp = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for each in argv + envp { free(each) } }
        var pid: pid_t = 0
        let failure = posix_spawn(&pid, executable, &actions, &attributes, argv, envp)
        if hasInput { close(ends[1]) }
        guard failure == 0 else {
            if hasInput { close(ends[0]) }
            throw ProcessFailure("\(executable) cannot be started: \(String(cString: strerror(failure))).")
        }
        return Child(pid: pid, input: hasInput ? ends[0] : nil)
    }

    private static func openDescriptors() -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { Int32($0) }
    }
}

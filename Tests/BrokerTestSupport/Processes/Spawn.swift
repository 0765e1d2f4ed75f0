import CBrokerLinux
import CTestSupport
import Foundation
import Synchronization

/// `posix_spawn` with what every child of a test needs: a process group of its own, default signals, no inherited
/// descriptors but the one it is given.
///
/// A child begins with copies of its maker's descriptors and closes them before it is the program. Among them would be other
/// tests' sockets, some of which linger for ten minutes: so it is made by a thread that has none of them.
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
        var ends: [Int32] = [-1, -1]
        if hasInput {
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw ProcessFailure("socketpair: errno \(errno)") }
        }
        let (ours, its) = (ends[0], ends[1])
        defer { if hasInput { close(its) } }
        do {
            let pid = try onThreadWithoutDescriptors {
                try spawn(
                    executable, arguments, environment, input: hasInput ? take(its) : nil, output, errors,
                    descriptor: descriptor.map(take))
            }
            return Child(pid: pid, input: hasInput ? ours : nil)
        } catch {
            if hasInput { close(ours) }
            throw error
        }
    }

    private static func onThreadWithoutDescriptors(_ body: @escaping @Sendable () throws -> pid_t) throws -> pid_t {
        _ = broker_keep_low_descriptors()
        let started = Started()
        Thread.detachNewThread {
            let code = broker_leave_descriptors()
            started.end(
                with: Result {
                    guard code == 0 else { throw ProcessFailure("close_range: errno \(code)") }
                    return try body()
                })
        }
        return try started.wait()
    }

    private static func take(_ descriptor: Int32) throws -> Int32 {
        let taken = test_take_descriptor(descriptor)
        guard taken >= 0 else { throw ProcessFailure("pidfd_getfd: errno \(-taken)") }
        return taken
    }

    private static func spawn(
        _ executable: String, _ arguments: [String], _ environment: [String: String], input: Int32?, _ output: String,
        _ errors: String, descriptor: Int32?
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        let creating = O_WRONLY | O_CREAT | O_APPEND
        posix_spawn_file_actions_addopen(&actions, 1, output, creating, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, errors, creating, 0o600)
        if let descriptor { posix_spawn_file_actions_adddup2(&actions, descriptor, 3) }

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
        guard failure == 0 else {
            throw ProcessFailure("\(executable) cannot be started: \(String(cString: strerror(failure))).")
        }
        return pid
    }
}

/// What became of a thread's work, for the one who waits for it.
private final class Started: Sendable {
    private let outcome = Mutex<Result<pid_t, any Error>?>(nil)
    private let ended = DispatchSemaphore(value: 0)

    func end(with result: Result<pid_t, any Error>) {
        outcome.withLock { $0 = result }
        ended.signal()
    }

    func wait() throws -> pid_t {
        ended.wait()
        guard let result = outcome.withLock({ $0 }) else { throw ProcessFailure("nothing was started") }
        return try result.get()
    }
}

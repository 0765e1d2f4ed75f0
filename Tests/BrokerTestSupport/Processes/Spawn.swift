import BrokerSystem
import CBrokerLinux
import CTestSupport
import Foundation
import Synchronization

/// Starts a child of a test: in a separate process group, and with no inherited descriptors but the given one.
///
/// A child begins with copies of its creator's descriptors and closes them before it executes the program. Among them would be
/// other tests' sockets, some of which linger for ten minutes: so a thread that has none of them creates it.
enum Spawn {
    struct Child {
        var pid: pid_t
        /// Our end of its standard input; a socket, because a write to a closed one can avoid SIGPIPE.
        var input: Int32?
    }

    static func start(
        _ words: [String], environment: [String: String], output: String, errors: String, hasInput: Bool,
        descriptor: Int32? = nil
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
                    words, environment, input: hasInput ? take(its) : nil, output, errors,
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
        _ words: [String], _ environment: [String: String], input: Int32?, _ output: String, _ errors: String,
        descriptor: Int32?
    ) throws -> pid_t {
        var program = ProcessStart(words)
        program.environment = environment
        program.streams = [
            0: input.map { .descriptor($0) } ?? .nothing, 1: .appended(output), 2: .appended(errors),
        ]
        program.streams[3] = descriptor.map { .descriptor($0) }
        program.group = .own
        do throws(ProcessStart.Failure) {
            return try program.start()
        } catch {
            throw ProcessFailure("\(words[0]) cannot be started: \(errnoText(error.code)).")
        }
    }
}

/// The result of a thread's work, for the waiting task.
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

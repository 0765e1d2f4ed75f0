import BrokerSystem
import BrokerTestSupport
import CBrokerLinux
import Foundation

/// Runs a body on a thread with a separate table of descriptors: what it opens is in no other test's program, and the programs that
/// it starts begin without other tests' sockets (see `Spawn`). It may block. Expectations belong after it: the thread is no task.
func separately<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    _ = broker_keep_low_descriptors()
    return try await withCheckedThrowingContinuation { continuation in
        let code = DetachedThread.start {
            continuation.resume(
                with: Result {
                    let left = broker_leave_descriptors()
                    guard left == 0 else { throw ProcessFailure("close_range: errno \(left)") }
                    return try body()
                })
        }
        if code != 0 { continuation.resume(throwing: ProcessFailure("There is no thread: \(errnoText(code))")) }
    }
}

/// The end of a started program, and its standard output.
struct Ending: Sendable, Equatable {
    var status: Int32
    var output: String
}

extension TestBed {
    /// Starts a program separately, and waits for its end.
    ///
    /// - Parameter change: sets it up, on the thread that starts it.
    func ending(
        of words: [String], sharesSignals: Bool = false,
        _ change: @escaping @Sendable (inout ProcessStart) throws -> Void = { _ in }
    ) async throws -> Ending {
        let output = path(unique("output"))
        let status = try await separately {
            var program = ProcessStart(words, sharesSignals: sharesSignals)
            program.streams = [0: .nothing, 1: .appended(output)]
            try change(&program)
            return exitStatus(of: try program.start())
        }
        return Ending(status: status, output: (try? String(contentsOfFile: output, encoding: .utf8)) ?? "")
    }

    func ending(
        ofShell words: String, sharesSignals: Bool = false,
        _ change: @escaping @Sendable (inout ProcessStart) throws -> Void = { _ in }
    ) async throws -> Ending {
        try await ending(of: ["sh", "-c", words], sharesSignals: sharesSignals, change)
    }
}

/// Opens a file of the calling thread.
///
/// - Parameter isInherited: whether programs get it.
func opened(_ path: String, _ flags: Int32, isInherited: Bool = false) throws -> Int32 {
    let descriptor = open(path, flags | (isInherited ? 0 : O_CLOEXEC), 0o600)
    guard descriptor >= 0 else { throw ProcessFailure("\(path) cannot be opened: \(errnoText(errno))") }
    return descriptor
}

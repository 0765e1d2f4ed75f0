import BrokerValues
import Synchronization

/// Which failures were told a moment ago: a program that asks in a circle fills no journal.
final class RepeatedFailures: Sendable {
    struct Key: Hashable {
        var caller: String
        var app: String?
        var method: String
        var failure: Failure
    }

    enum Failure: Hashable {
        case failed(ErrorKind, ErrorReason?)
        /// No proper request: the code of JSON-RPC.
        case refused(code: Int64)
    }

    /// The same failure is told once in this time.
    static let interval = Duration.seconds(60)
    private static let capacity = 256

    private let told = Mutex<[Key: (at: Duration, unsaid: Int)]>([:])

    /// - Parameter now: the clock's ``BrokerClock/uptime``.
    /// - Returns: nil when it was told a moment ago; else how often it has happened since.
    func tell(_ key: Key, at now: Duration) -> Int? {
        told.withLock { told in
            if let last = told[key], now - last.at < Self.interval {
                told[key]?.unsaid += 1
                return nil
            }
            let unsaid = told[key]?.unsaid ?? 0
            if told.count >= Self.capacity { told = told.filter { now - $0.value.at < Self.interval } }
            // With so many different failures at a time each is told.
            if told.count < Self.capacity { told[key] = (now, 0) }
            return unsaid
        }
    }
}

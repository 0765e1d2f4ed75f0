import BrokerModel
import Synchronization

/// Lets concurrent callers that want the same value wait for one piece of work.
///
/// The work belongs to no single caller: a caller whose task is cancelled stops waiting, the work continues.
final class SharedFlights<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let flights = Mutex<[Key: Promise<Value>]>([:])

    /// - Parameter mayStart: called if no work for the key is under way; if it returns false, none starts.
    /// - Returns: the work's result; `nil` if there is none, or the calling task was cancelled before.
    func value(
        for key: Key, if mayStart: () -> Bool = { true }, work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let (flight, isFirst): (Promise<Value>?, Bool) = flights.withLock { flights in
            if let flight = flights[key] { return (flight, false) }
            guard mayStart() else { return (nil, false) }
            let flight = Promise<Value>()
            flights[key] = flight
            return (flight, true)
        }
        guard let flight else { return nil }
        if isFirst {
            Task.detached { [self] in
                let value = await work()
                flights.withLock { $0[key] = nil }
                flight.fulfil(value)
            }
        }
        return await flight.valueUnlessCanceled
    }
}

import BrokerModel
import BrokerValues
import Synchronization

/// The watches of one connection: their number, their names, and how they end with it.
final class ConnectionWatches: Sendable {
    /// Ends a watch. With an error, its client is notified.
    typealias End = @Sendable (_ telling: BrokerError?) -> Void

    private struct State {
        /// By name; `nil` when the client has gone.
        var ends: [String: End]? = [:]
        /// Keeps the connection's slot while it watches.
        var stay: Subscription?
    }

    private let claimant: QuotaOwner
    private let payer: Partition
    private let places: WatchPlaces
    private let state = Mutex(State())
    private let names = Atomic<UInt64>(0)

    init(of claimant: QuotaOwner, _ payer: Partition, in places: WatchPlaces) {
        (self.claimant, self.payer, self.places) = (claimant, payer, places)
    }

    /// Whether the connection keeps its slot because of them.
    var keepSlot: Bool { state.withLock { $0.stay != nil } }

    /// A name, unique in the connection, and a place for one more watch. ``keep(_:_:)`` it when it begins.
    ///
    /// - Throws: `throttled`.
    func reserve() throws(BrokerError) -> (name: String, place: Subscription) {
        let place = try places.take(for: claimant, of: payer)
        guard state.withLock({ $0.ends?.count ?? 0 }) < WatchPlaces.maximumEach else { throw Self.tooMany }
        return ("w\(names.add(1, ordering: .relaxed).newValue)", place)
    }

    /// - Returns: false if the client has gone.
    /// - Throws: `throttled` if too many began at the same time.
    func keep(_ name: String, _ end: @escaping End) throws(BrokerError) -> Bool {
        let hasRoom: Bool? = state.withLock { state in
            guard let count = state.ends?.count else { return nil }
            guard count < WatchPlaces.maximumEach else { return false }
            state.ends?[name] = end
            if state.stay == nil { state.stay = places.stay(of: claimant, payer) }
            return true
        }
        if hasRoom == false { throw Self.tooMany }
        return hasRoom != nil
    }

    /// - Returns: its end, if the watch was kept; now it is not.
    func take(_ name: String) -> End? {
        state.withLock { state in
            let end = state.ends?.removeValue(forKey: name)
            if state.ends?.isEmpty ?? true { state.stay = nil }
            return end
        }
    }

    /// - Returns: whether the watch existed.
    func end(_ name: String) -> Bool {
        guard let end = take(name) else { return false }
        end(nil)
        return true
    }

    /// Ends all, and tells the client.
    func endAll(telling error: BrokerError) {
        for end in state.withLock({ Array(($0.ends ?? [:]).values) }) { end(error) }
    }

    /// The client has gone.
    func endAll() {
        let ends = state.withLock { state in
            defer { state = State(ends: nil, stay: nil) }
            return state.ends ?? [:]
        }
        for end in ends.values { end(nil) }
    }

    private static let tooMany = WatchPlaces.tooMany("This connection has \(WatchPlaces.maximumEach) watches already")
}

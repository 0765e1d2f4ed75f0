import BrokerModel
import Synchronization

/// The open connections of all listeners that share their limits: ``ConnectionSlots`` behind a lock, as counts and ends are
/// requested from any thread. Connections enter and leave on the reactor's thread.
final class ConnectionTable: Sendable {
    private let places: Mutex<ConnectionSlots>
    private let lastID = Atomic<UInt64>(0)
    /// Refused peers that linger.
    let lingering: BoundedCount
    /// Peers that wait for a slot, with what they hold meanwhile.
    let waiting: BoundedCount

    init(limits: ConnectionLimits) {
        places = Mutex(ConnectionSlots(limits: limits))
        lingering = BoundedCount(atMost: limits.lingering)
        waiting = BoundedCount(atMost: limits.waiting)
    }

    /// For a connection or a listener.
    func makeID() -> UInt64 { lastID.add(1, ordering: .relaxed).newValue }

    /// Open connections, refused ones not counted.
    var count: Int { places.withLock { $0.count } }

    // MARK: Listeners

    func begin(_ listener: UInt64) { places.withLock { $0.begin(listener) } }

    /// - Returns: its connections. No more are accepted.
    func end(_ listener: UInt64) -> [any SlotHolder] {
        places.withLock { places in
            places.end(listener)
            return places.all(of: listener)
        }
    }

    func all(of listener: UInt64) -> [any SlotHolder] { places.withLock { $0.all(of: listener) } }

    /// - Parameter notify: called once, on any thread, when the listener has no connection.
    func whenEmpty(_ listener: UInt64, _ notify: @escaping @Sendable () -> Void) {
        let isEmpty = places.withLock { $0.whenEmpty(listener, notify) }
        if isEmpty { notify() }
    }

    // MARK: Connections

    /// Finds and takes a slot for one more connection of the owner.
    func enter(_ connection: any SlotHolder, of owner: ConnectionOwner, from listener: UInt64) -> ConnectionSlots.Entry
    {
        let (entry, gone) = places.withLock { $0.enter(connection, of: owner, from: listener) }
        gone?.evict()
        return entry
    }

    func remove(_ id: UInt64) {
        let waiting = places.withLock { places in
            places.remove(id)
            return places.takeToldOfEmpty()
        }
        for notify in waiting { notify() }
    }

    /// The system has no room for another connection: a quiet one of the owner with the most is evicted.
    func makeRoom() {
        let gone = places.withLock { $0.makeRoom() }
        gone?.evict()
    }

    /// Counts a connection that is being closed against its owner's limits.
    func keepPlace(of owner: ConnectionOwner) { places.withLock { $0.keepPlace(of: owner) } }

    func leavePlace(of owner: ConnectionOwner) { places.withLock { $0.leavePlace(of: owner) } }

    /// - Parameter bytes: what waits in memory because of the connection from now on. If the total is too much, the connection
    ///   with the most is cut off; that may be this one.
    func hold(_ bytes: Int, by id: UInt64) {
        let gone = places.withLock { $0.hold(bytes, by: id) }
        for connection in gone { connection.giveBackMemory() }
    }
}

/// Counts up to a limit.
final class BoundedCount: Sendable {
    private let most: Int
    private let count = Mutex(0)

    init(atMost most: Int) { self.most = most }

    /// - Returns: whether there is room for one more, which is then counted.
    func enter() -> Bool {
        count.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
    }

    func leave() { count.withLock { $0 -= 1 } }
}

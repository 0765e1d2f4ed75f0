/// A connection as far as the table of slots needs it: how long it has been quiet, and how it ends.
protocol SlotHolder: AnyObject, Sendable {
    /// Unique within the process, counting up.
    var id: UInt64 { get }
    /// `nil` while it cannot be evicted. On the reactor's thread.
    var quietSince: MonotonicInstant? { get }
    /// It lost its slot to another, as it was quiet.
    func evict()
    /// It lost its slot, as it takes too much of the shared memory.
    func giveBackMemory()
    /// The broker stops.
    func drain()
    /// The time for that is over.
    func cutOff()
}

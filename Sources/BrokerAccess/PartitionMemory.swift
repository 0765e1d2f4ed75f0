import BrokerModel
import BrokerValues

/// The partitions' records of one kind, in memory. A partition is read on its first use; changes written meanwhile are added to
/// the records read, so that a write never forces another read. Without room, the records unused for longest of the partitions
/// with the most go, and are read again. Pure.
struct PartitionMemory<Value: Sendable>: Sendable {
    /// A read in progress.
    struct Reading: Sendable {
        let partition: Partition
        fileprivate let epoch: UInt64
    }

    typealias Change = @Sendable (inout Value) -> Void

    /// The changes written while a partition is read, in the order of the disk: a read may lack them.
    private struct ActiveRead {
        var readers = 0
        var changes: [Change] = []
    }

    private var known: FairCache<Partition, Partition, Value>
    private var reading: [Partition: ActiveRead] = [:]
    /// Counts deliberate invalidations: a read that began before one is not kept after it.
    private var epoch: UInt64 = 0
    private let weigh: @Sendable (Value) -> Int

    /// - Parameters:
    ///   - limit: rough size in bytes, of all partitions.
    ///   - weigh: the size of one value. Part of the hot path.
    init(limit: Int, weigh: @escaping @Sendable (Value) -> Int) {
        known = FairCache(limit: limit)
        self.weigh = weigh
    }

    /// Part of the hot path.
    mutating func use(_ partition: Partition) -> Value? { known.use(partition) }

    var values: [Value] { known.keys.compactMap { known.peek($0) } }

    /// The partition's value. It does not count as used.
    func peek(_ partition: Partition) -> Value? { known.peek(partition) }

    mutating func beginReading(_ partition: Partition) -> Reading {
        reading[partition, default: ActiveRead()].readers += 1
        return Reading(partition: partition, epoch: epoch)
    }

    /// Ends a read without a result.
    mutating func end(_ reading: Reading) {
        guard reading.epoch == epoch else { return }
        self.reading[reading.partition]?.readers -= 1
        if self.reading[reading.partition]?.readers == 0 { self.reading[reading.partition] = nil }
    }

    /// Ends a read, and keeps its result together with the changes written meanwhile.
    ///
    /// - Parameter use: called with the partition's value before room is made: a value larger than all others may go at once.
    /// - Returns: `nil` if everything was invalidated meanwhile: then it must be read again.
    mutating func end<Result>(
        _ reading: Reading, with read: Value, _ use: (inout Value) -> Result
    ) -> Result? {
        guard reading.epoch == epoch else { return nil }
        let partition = reading.partition
        if known.peek(partition) == nil {
            var read = read
            for change in self.reading[partition]?.changes ?? [] { change(&read) }
            known.keep(read, for: partition, of: partition, weight: weigh(read))
        }
        end(reading)
        return self.use(partition, use)
    }

    /// Keeps a value that is derived from a partition's records and never changed.
    mutating func keep(_ value: Value, of partition: Partition) {
        known.keep(value, for: partition, of: partition, weight: weigh(value))
        known.makeRoom()
    }

    /// Reads the partition's value in memory, or changes what is only in memory.
    ///
    /// - Returns: `nil` if it must be read.
    @discardableResult
    mutating func use<Result>(_ partition: Partition, _ use: (inout Value) -> Result) -> Result? {
        defer { known.makeRoom() }
        return known.change(partition, weighing: weigh, use)
    }

    /// Call after the change is on disk, in the order of the disk.
    mutating func write(in partition: Partition, _ change: @escaping Change) {
        reading[partition]?.changes.append(change)
        use(partition, change)
    }

    /// Changes known values, and those being read.
    mutating func changeAll(_ change: @escaping Change) {
        known.changeAll(change)
        for partition in reading.keys { reading[partition]?.changes.append(change) }
    }

    mutating func forget() {
        known.removeAll { _, _ in true }
        reading = [:]
        epoch += 1
    }

    /// Call when the vault has no records of the partition any more.
    mutating func forget(_ partition: Partition) {
        known.remove(partition)
        reading = [:]
        epoch += 1
    }
}

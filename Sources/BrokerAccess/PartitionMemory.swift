import BrokerModel
import BrokerValues

/// What memory has of the partitions' records of one kind. A partition is read when it is first asked for; what is written
/// meanwhile is added to what was read, so that nobody reads again because somebody writes. When there is no room, what was
/// not used for longest of those that have the most goes, and is read again. Pure.
struct PartitionMemory<Value: Sendable>: Sendable {
    /// A read under way.
    struct Reading: Sendable {
        let partition: Partition
        fileprivate let epoch: UInt64
    }

    typealias Change = @Sendable (inout Value) -> Void

    /// What was written while a partition is read, in the order of the disk: a read may lack it.
    private struct Meanwhile {
        var readers = 0
        var changes: [Change] = []
    }

    private var known: FairCache<Partition, Partition, Value>
    private var reading: [Partition: Meanwhile] = [:]
    /// Counts how often something was forgotten on purpose: what was read before is not kept after it.
    private var epoch: UInt64 = 0
    private let weigh: @Sendable (Value) -> Int

    /// - Parameters:
    ///   - limit: roughly bytes, of all partitions.
    ///   - weigh: what one takes. Part of the hot path.
    init(limit: Int, weigh: @escaping @Sendable (Value) -> Int) {
        known = FairCache(limit: limit)
        self.weigh = weigh
    }

    /// Part of the hot path.
    mutating func use(_ partition: Partition) -> Value? { known.use(partition) }

    var values: [Value] { known.keys.compactMap { known.peek($0) } }

    /// Without counting as a use.
    func peek(_ partition: Partition) -> Value? { known.peek(partition) }

    mutating func beginReading(_ partition: Partition) -> Reading {
        reading[partition, default: Meanwhile()].readers += 1
        return Reading(partition: partition, epoch: epoch)
    }

    /// For a reading that failed, too.
    mutating func end(_ reading: Reading) {
        guard reading.epoch == epoch else { return }
        self.reading[reading.partition]?.readers -= 1
        if self.reading[reading.partition]?.readers == 0 { self.reading[reading.partition] = nil }
    }

    /// - Parameter use: with what the partition has, before room is made: what is heavier than all others may go at once.
    /// - Returns: nil where everything was forgotten meanwhile: then it has to be read again.
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

    /// For what is made of a partition's records and not changed.
    mutating func keep(_ value: Value, of partition: Partition) {
        known.keep(value, for: partition, of: partition, weight: weigh(value))
        known.makeRoom()
    }

    /// Looks at what memory has of a partition, or changes what memory alone has.
    ///
    /// - Returns: nil where it has to be read.
    @discardableResult
    mutating func use<Result>(_ partition: Partition, _ use: (inout Value) -> Result) -> Result? {
        defer { known.makeRoom() }
        return known.change(partition, weighing: weigh, use)
    }

    /// The disk has it. In the order of the disk.
    mutating func write(in partition: Partition, _ change: @escaping Change) {
        reading[partition]?.changes.append(change)
        use(partition, change)
    }

    /// Of what is known, and of what is being read.
    mutating func changeAll(_ change: @escaping Change) {
        known.changeAll(change)
        for partition in reading.keys { reading[partition]?.changes.append(change) }
    }

    mutating func forget() {
        known.removeAll { _, _ in true }
        reading = [:]
        epoch += 1
    }

    /// The vault has nothing of the partition any more.
    mutating func forget(_ partition: Partition) {
        known.remove(partition)
        reading = [:]
        epoch += 1
    }
}

import BrokerModel

/// What memory has of the registrations. A partition is read when it is first asked for, and once: what is written meanwhile
/// is added to what was read, so that nobody reads again because somebody writes. Pure.
struct RegistrationMemory: Sendable {
    /// A read under way.
    struct Reading: Sendable {
        let partition: Partition
        fileprivate let epoch: UInt64
    }

    /// What was written while a partition is read, in the order of the disk: a read may lack it.
    private struct Meanwhile {
        var readers = 0
        var writes: [(name: String, registration: Registration?)] = []
    }

    private var known: [Partition: Registrations] = [:]
    private var reading: [Partition: Meanwhile] = [:]
    /// Counts how often everything was forgotten: what was read before is not kept after it.
    private var epoch: UInt64 = 0

    /// Part of the hot path.
    func known(_ partition: Partition) -> Registrations? { known[partition] }

    mutating func beginReading(_ partition: Partition) -> Reading {
        reading[partition, default: Meanwhile()].readers += 1
        return Reading(partition: partition, epoch: epoch)
    }

    /// - Parameter read: nil when reading failed.
    /// - Returns: what the partition has.
    mutating func end(_ reading: Reading, with read: Registrations) -> Registrations {
        let partition = reading.partition
        guard reading.epoch == epoch else { return read }
        defer { end(reading) }
        if let known = known[partition] { return known }
        var read = read
        for (name, registration) in self.reading[partition]?.writes ?? [] { read[name] = registration }
        known[partition] = read
        return read
    }

    /// For a reading that failed, too.
    mutating func end(_ reading: Reading) {
        guard reading.epoch == epoch else { return }
        self.reading[reading.partition]?.readers -= 1
        if self.reading[reading.partition]?.readers == 0 { self.reading[reading.partition] = nil }
    }

    /// The disk has it. In the order of the disk.
    ///
    /// - Parameter registration: nil when it was removed.
    mutating func write(_ registration: Registration?, as name: String, in partition: Partition) {
        if known[partition] != nil {
            known[partition]?[name] = registration
        } else {
            reading[partition]?.writes.append((name, registration))
        }
    }

    /// - Returns: names of apps that nobody can act as any more.
    mutating func read(by authorities: AuthorityParser) -> [String] {
        known = known.mapValues { $0.read(by: authorities) }
        for (partition, meanwhile) in reading {
            reading[partition]?.writes = meanwhile.writes.map { ($0.name, $0.registration?.read(by: authorities)) }
        }
        return known.values.flatMap(\.useless)
    }

    mutating func forget() {
        (known, reading) = ([:], [:])
        epoch += 1
    }
}

import BrokerModel
import BrokerValues

/// Work that is done for each key once at a time, and then not again for a while. Who has much of it under way or resting gets
/// no more (``FairQuota``).
struct RateLimitedWork<Key: Hashable & Sendable>: Sendable {
    enum Standing {
        /// It is the caller's to do, and to say when it is over.
        case new
        case underWay
        /// It was done a moment ago.
        case resting
        /// There is no room for another key.
        case full
    }

    private struct Entry {
        let owner: CacheIndex.GroupKey
        /// Nil while it is under way.
        var rested: Duration?
    }

    private var entries: [Key: Entry] = [:]
    private var places: FairQuota<Partition, GroupID>

    init(limit: Int) { places = FairQuota(limit: limit) }

    /// - Parameter now: ``BrokerClock/uptime``.
    mutating func begin(_ key: Key, of owner: CacheIndex.GroupKey, at now: Duration) -> Standing {
        if let entry = entries[key] {
            guard let rested = entry.rested else { return .underWay }
            guard now >= rested else { return .resting }
            remove(key)
        }
        if !places.take(for: owner.group, of: owner.partition) {
            for (key, entry) in entries { if let rested = entry.rested, now >= rested { remove(key) } }
            guard places.take(for: owner.group, of: owner.partition) else { return .full }
        }
        entries[key] = Entry(owner: owner)
        return .new
    }

    /// - Parameter rested: from when it may be done again; nil is at once.
    mutating func end(_ key: Key, restingUntil rested: Duration?) {
        if let rested { entries[key]?.rested = rested } else { remove(key) }
    }

    private mutating func remove(_ key: Key) {
        guard let owner = entries.removeValue(forKey: key)?.owner else { return }
        places.leave(for: owner.group, of: owner.partition)
    }
}

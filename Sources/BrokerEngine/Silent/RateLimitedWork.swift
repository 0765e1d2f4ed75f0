import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Work that is done once at a time for each key, and then not again for a while. An owner with much of it in progress or resting
/// gets no more (``FairQuota``).
struct RateLimitedWork<Key: Hashable & Sendable>: Sendable {
    enum Standing {
        /// The caller has to do it, and to report its end.
        case new
        case underWay
        /// It was done a moment ago.
        case resting
        /// There is no room for another key.
        case full
    }

    private struct Entry {
        let owner: GroupKey
        /// When the work may be done again; `nil` while it is in progress.
        var rested: Duration?
    }

    private var entries: [Key: Entry] = [:]
    private var places: FairQuota<Partition, GroupID>

    init(limit: Int) { places = FairQuota(limit: limit) }

    /// - Parameter now: ``BrokerClock/uptime``.
    mutating func begin(_ key: Key, of owner: GroupKey, at now: Duration) -> Standing {
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

    /// - Parameter rested: when it may be done again; `nil` means at once.
    mutating func end(_ key: Key, restingUntil rested: Duration?) {
        if let rested { entries[key]?.rested = rested } else { remove(key) }
    }

    private mutating func remove(_ key: Key) {
        guard let owner = entries.removeValue(forKey: key)?.owner else { return }
        places.leave(for: owner.group, of: owner.partition)
    }
}

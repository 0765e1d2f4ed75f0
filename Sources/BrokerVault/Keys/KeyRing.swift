import BrokerModel
import BrokerValues
import Synchronization

/// The data keys that are in use, each unwrapped when its partition is first touched; none while the vault is locked.
final class KeyRing: Sendable {
    private struct Entry {
        /// `nil` while locked.
        var keys: PartitionKeys?
        /// Set while the key is not on disk yet: the next commit writes it. It is wrapped, and outlives a lock.
        var unsaved: [UInt8]?
    }

    private struct State {
        /// `nil` while locked.
        var wrapping: KeyWrapping?
        /// The next one, while the disk may have either.
        var expected: KeyWrapping?
        var entries: [Partition: Entry] = [:]
        /// Partitions whose keys were erased since the start: records in memory may be sealed with those.
        var erased: Set<Partition> = []
        /// Those of them that have no new owner yet.
        var withoutOwner: Set<Partition> = []
    }

    private let state: Mutex<State>
    private let changeCount = Atomic<UInt64>(0)

    /// - Parameter wrapping: nil for a vault that starts locked.
    init(wrapping: KeyWrapping?) { state = Mutex(State(wrapping: wrapping)) }

    /// Increases whenever issued keys may no longer be those of their partition.
    var changes: UInt64 { changeCount.load(ordering: .acquiring) }

    /// Call it under the lock that guards the change.
    private func countChange() { changeCount.add(1, ordering: .acquiringAndReleasing) }

    var isLocked: Bool { state.withLock { $0.wrapping == nil } }

    func unlock(with wrapping: KeyWrapping) { state.withLock { $0.wrapping = wrapping } }

    func lock() {
        state.withLock { state in
            defer { countChange() }
            state.wrapping = nil
            state.expected = nil
            state.entries = state.entries.compactMapValues { $0.unsaved.map { Entry(unsaved: $0) } }
        }
    }

    // MARK: Key changes, on the vault's queue

    /// - Throws: ``VaultError/locked``.
    func currentWrapping() throws(VaultError) -> KeyWrapping {
        guard let wrapping = state.withLock({ $0.wrapping }) else { throw .locked }
        return wrapping
    }

    var unsaved: [Partition: [UInt8]] { state.withLock { $0.entries.compactMapValues(\.unsaved) } }

    /// Call it with a new key before the disk has anything that it wraps, and with nil afterwards.
    func expect(_ next: KeyWrapping?) { state.withLock { $0.expected = $0.wrapping == nil ? nil : next } }

    /// Called when the disk has `saved`, wrapped by a new key.
    func adopt(_ new: KeyWrapping, saved: Set<Partition>) {
        state.withLock { state in
            let old = state.wrapping
            // If it was locked during the write, it stays locked.
            if old != nil { state.wrapping = new }
            for (partition, entry) in state.entries {
                guard let unsaved = entry.unsaved else { continue }
                // A partition created after the write began.
                let keys = saved.contains(partition) ? nil : old?.unwrap(unsaved, of: partition)
                state.entries[partition]?.unsaved = keys.map { new.wrap($0, of: partition) }
            }
        }
    }

    /// Called when the disk has new keys of a partition. Records in memory may be sealed with the previous ones.
    func replace(_ keys: [Partition: DataKeys]) {
        state.withLock { state in
            defer { countChange() }
            // If locked during the write, they are read again when it is unlocked.
            guard state.wrapping != nil else {
                for partition in keys.keys { state.entries[partition] = nil }
                return
            }
            for (partition, dataKeys) in keys {
                var new = dataKeys.keys
                if let known = state.entries[partition]?.keys {
                    new = new.adding((known.sealing == new.sealing ? [] : [known.sealing]) + known.former)
                }
                state.entries[partition] = Entry(keys: new)
            }
        }
    }

    // MARK: Use

    /// - Parameter stored: looks up the wrapped key in the vault.
    /// - Returns: nil for a partition without records so far.
    func keys(
        of partition: Partition, stored: (Partition) throws(VaultError) -> [UInt8]?
    ) throws(VaultError) -> PartitionKeys? {
        try state.withLock { state throws(VaultError) in
            try Self.keys(of: partition, in: &state, stored: stored)
        }
    }

    /// The same, but creates a key for a new partition.
    func keysMakingNew(
        for partition: Partition, stored: (Partition) throws(VaultError) -> [UInt8]?
    ) throws(VaultError) -> PartitionKeys {
        try state.withLock { state throws(VaultError) in
            if let keys = try Self.keys(of: partition, in: &state, stored: stored) { return keys }
            guard let wrapping = state.wrapping else { throw .locked }
            let new = DataKeys()
            state.entries[partition] = Entry(keys: new.keys, unsaved: wrapping.wrap(new, of: partition))
            return new.keys
        }
    }

    private static func keys(
        of partition: Partition, in state: inout State, stored: (Partition) throws(VaultError) -> [UInt8]?
    ) throws(VaultError) -> PartitionKeys? {
        guard let wrapping = state.wrapping else { throw .locked }
        if let keys = state.entries[partition]?.keys { return keys }
        let unsaved = state.entries[partition]?.unsaved
        let found = if let unsaved { unsaved } else { try stored(partition) }
        guard let wrapped = found else { return nil }
        guard let dataKeys = wrapping.unwrap(wrapped, of: partition) ?? state.expected?.unwrap(wrapped, of: partition)
        else {
            throw .damaged(
                "The data key of uid \(partition.uid) in the vault is damaged. Restore vault.db from a backup.")
        }
        let keys = dataKeys.keys
        state.entries[partition] = Entry(keys: keys, unsaved: unsaved)
        return keys
    }

    /// Called when the disk no longer has the partition's key.
    func forget(_ partition: Partition) {
        state.withLock { state in
            state.entries[partition] = nil
            state.erased.insert(partition)
            state.withoutOwner.insert(partition)
            countChange()
        }
    }

    func wasErased(_ partition: Partition) -> Bool { state.withLock { $0.erased.contains(partition) } }

    /// Whether the partition was erased, and its next owner is not on disk.
    func hasLostOwner(_ partition: Partition) -> Bool { state.withLock { $0.withoutOwner.contains(partition) } }

    /// Called when the disk has the owner of a partition.
    func didRecordOwner(of partition: Partition) { state.withLock { _ = $0.withoutOwner.remove(partition) } }

    /// The partition's wrapped key, if the vault does not have it yet.
    func unsavedKey(of partition: Partition) -> [UInt8]? {
        state.withLock { $0.entries[partition]?.unsaved }
    }

    func markSaved(_ partition: Partition) {
        state.withLock { $0.entries[partition]?.unsaved = nil }
    }
}

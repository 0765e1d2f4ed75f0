import BrokerModel
import Synchronization

/// The data keys that are in use, each unwrapped when its partition is first touched.
final class KeyRing: Sendable {
    private struct Entry {
        var keys: PartitionKeys
        /// Set while the key exists in memory only: the next commit writes it along.
        var unsaved: [UInt8]?
    }

    private let wrapping: KeyWrapping
    private let entries = Mutex<[Partition: Entry]>([:])

    init(wrapping: KeyWrapping) { self.wrapping = wrapping }

    /// - Parameter stored: looks up the wrapped key in the vault.
    /// - Returns: nil for a partition that never had a record.
    func keys(
        of partition: Partition, stored: (Partition) throws(VaultError) -> [UInt8]?
    ) throws(VaultError) -> PartitionKeys? {
        try entries.withLock { entries throws(VaultError) in
            if let entry = entries[partition] { return entry.keys }
            guard let wrapped = try stored(partition) else { return nil }
            guard let dataKey = wrapping.unwrap(wrapped, of: partition) else {
                throw .damaged(
                    "The data key of uid \(partition.uid) in the vault is damaged. Restore vault.db from a backup.")
            }
            let keys = PartitionKeys(dataKey: dataKey)
            entries[partition] = Entry(keys: keys, unsaved: nil)
            return keys
        }
    }

    /// As above; a new partition gets its key.
    func keysMakingNew(
        for partition: Partition, stored: (Partition) throws(VaultError) -> [UInt8]?
    ) throws(VaultError) -> PartitionKeys {
        if let keys = try keys(of: partition, stored: stored) { return keys }
        return entries.withLock { entries in
            if let entry = entries[partition] { return entry.keys }
            let dataKey = Secret.random(count: keyByteCount)
            let keys = PartitionKeys(dataKey: dataKey)
            entries[partition] = Entry(keys: keys, unsaved: wrapping.wrap(dataKey, of: partition))
            return keys
        }
    }

    /// The partition's wrapped key, if the vault does not have it yet.
    func unsavedKey(of partition: Partition) -> [UInt8]? {
        entries.withLock { $0[partition]?.unsaved }
    }

    func markSaved(_ partition: Partition) {
        entries.withLock { $0[partition]?.unsaved = nil }
    }
}

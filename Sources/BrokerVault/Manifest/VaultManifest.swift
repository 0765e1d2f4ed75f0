import BrokerModel

/// The partitions of the vault, with the root of each.
struct VaultManifest: Sendable, Equatable {
    struct PartitionState: Sendable, Equatable {
        /// `nil` if the root is gone.
        var root: Fingerprint?
        /// An earlier state has replaced the last one, and nobody has accepted it yet.
        var isRolledBack = false
    }

    /// Increases with each commit, including the first one after a roll-back.
    var commit: UInt64 = 0
    var partitions: [Partition: PartitionState] = [:]

    init() {}

    /// For a partition that the vault does not have, the vault as a whole counts: an earlier state of it may have fewer users.
    func state(of partition: Partition) -> PartitionState {
        partitions[partition] ?? PartitionState(isRolledBack: partitions[.wholeVault]?.isRolledBack ?? false)
    }

    var bytes: [UInt8] {
        var bytes = CanonicalBytes(reserving: 8 + partitions.count * (6 + Fingerprint.count))
        bytes.append(commit)
        for (partition, entry) in partitions.sorted(by: { $0.key.uid < $1.key.uid }) {
            bytes.append(partition.uid)
            bytes.append(UInt8(entry.isRolledBack ? 1 : 0))
            bytes.append(UInt8(entry.root == nil ? 0 : 1))
            entry.root?.append(to: &bytes)
        }
        return bytes.bytes
    }

    init?(_ bytes: [UInt8]) {
        var reader = CanonicalReader(bytes)
        guard let commit = reader.number64() else { return nil }
        self.commit = commit
        while !reader.isAtEnd {
            guard let uid = reader.number32(), let isRolledBack = reader.byte(), let hasRoot = reader.byte() else {
                return nil
            }
            var entry = PartitionState(isRolledBack: isRolledBack == 1)
            if hasRoot == 1 {
                guard let root = reader.fingerprint() else { return nil }
                entry.root = root
            }
            partitions[Partition(uid: uid)] = entry
        }
    }
}

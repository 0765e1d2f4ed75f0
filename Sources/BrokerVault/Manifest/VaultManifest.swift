import BrokerModel

/// Which partitions the vault has, and which root each is at.
struct VaultManifest: Sendable, Equatable {
    struct Standing: Sendable, Equatable {
        /// Nil for one whose root is gone.
        var root: Fingerprint?
        /// An earlier state was put in place of the last one, and no person has said yet that this is right.
        var isRolledBack = false
    }

    /// Goes up with each commit, also with the first one after a roll-back.
    var commit: UInt64 = 0
    var partitions: [Partition: Standing] = [:]

    init() {}

    /// Of a partition that the vault does not have: as the vault as a whole, of which an earlier state may know less people.
    func standing(of partition: Partition) -> Standing {
        partitions[partition] ?? Standing(isRolledBack: partitions[.wholeVault]?.isRolledBack ?? false)
    }

    var bytes: [UInt8] {
        var bytes = CanonicalBytes(reserving: 8 + partitions.count * (6 + Fingerprint.count))
        bytes.append(commit)
        for (partition, standing) in partitions.sorted(by: { $0.key.uid < $1.key.uid }) {
            bytes.append(partition.uid)
            bytes.append(UInt8(standing.isRolledBack ? 1 : 0))
            bytes.append(UInt8(standing.root == nil ? 0 : 1))
            standing.root?.append(to: &bytes)
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
            var standing = Standing(isRolledBack: isRolledBack == 1)
            if hasRoot == 1 {
                guard let root = reader.fingerprint() else { return nil }
                standing.root = root
            }
            partitions[Partition(uid: uid)] = standing
        }
    }
}

extension Partition {
    /// Stands for the vault as a whole, which has a data key as partitions have: no account has this uid, (uid_t)-1.
    static let wholeVault = Partition(uid: .max)
}

import BrokerModel

/// A page of a partition's manifest.
package struct ManifestPlace: Sendable, Hashable {
    package let partition: Partition
    package let page: UInt8

    package init(_ partition: Partition, page: UInt8) {
        self.partition = partition
        self.page = page
    }

    /// The page of a row.
    ///
    /// - Returns: nil for a bucket key that no row of ours has, and for the vault as a whole, which has no rows.
    package init?(_ partition: Partition, bucketKey: [UInt8]) {
        guard partition != .wholeVault, let page = bucketKey.first else { return nil }
        self.init(partition, page: page)
    }
}

extension Partition {
    /// Represents the vault as a whole, which has a data key as partitions do: no account has this uid, (uid_t)-1.
    package static let wholeVault = Partition(uid: .max)

    /// - Returns: nil for a number that no system has.
    package init?(storedAs number: Int64) {
        guard let uid = UInt32(exactly: number) else { return nil }
        self.init(uid: uid)
    }
}

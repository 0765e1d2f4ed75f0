import BrokerModel

/// The owner of connections that count together.
package struct ConnectionOwner: Sendable, Hashable {
    /// The partition of the user whose quota counts.
    package var partition: Partition
    package var claimant: QuotaOwner
    /// Whether it may take one of the slots reserved for the person's own tools.
    package var mayUseReserve: Bool

    package init(_ claimant: QuotaOwner, of partition: Partition, mayUseReserve: Bool) {
        self.partition = partition
        self.claimant = claimant
        self.mayUseReserve = mayUseReserve
    }
}

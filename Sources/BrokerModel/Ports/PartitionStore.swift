/// The existing partitions; for the administrator of a broker with many users.
package protocol PartitionStore: Sendable {
    /// In the order of their uids. Counted from the rows, none of which is opened.
    func partitions() throws(VaultError) -> [PartitionSummary]

    /// Erases everything of a partition, and its key. Records that were sealed for it and arrive later are refused
    /// (``VaultError/erased``).
    func erase(_ partition: Partition) async throws(VaultError)
}

package struct PartitionSummary: Sendable, Equatable {
    package var partition: Partition
    /// Without the audit log.
    package var records: Int
    /// The size of all records, sealed.
    package var bytes: Int

    package init(partition: Partition, records: Int, bytes: Int) {
        self.partition = partition
        self.records = records
        self.bytes = bytes
    }
}

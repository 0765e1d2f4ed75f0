/// Whose records there are; for whoever administers a broker with many users.
package protocol PartitionStore: Sendable {
    /// In the order of their uids. Counted from the rows, none of which is opened.
    func partitions() throws(VaultError) -> [PartitionSummary]

    /// Erases everything of a partition, and its key. What was sealed for it and comes to be committed later opens for nobody.
    func erase(_ partition: Partition) async throws(VaultError)
}

package struct PartitionSummary: Sendable, Equatable {
    package var partition: Partition
    /// Without those of the audit log.
    package var records: Int
    /// Of all records, sealed.
    package var bytes: Int

    package init(partition: Partition, records: Int, bytes: Int) {
        self.partition = partition
        self.records = records
        self.bytes = bytes
    }
}

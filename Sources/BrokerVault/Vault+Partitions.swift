import BrokerModel

extension Vault: PartitionStore {
    package func partitions() throws(VaultError) -> [PartitionSummary] {
        try reader.partitions().map { PartitionSummary(partition: $0.partition, records: $0.records) }
    }

    package func erase(_ partition: Partition) async throws(VaultError) {
        guard !isLocked else { throw .locked }
        try await onQueue(of: partition) { [writeSide] () throws(VaultError) in
            try writeSide.erase(partition)
        } afterwards: { [writeSide] in
            // What was deleted is in the log until then.
            writeSide.tidy()
        }
    }
}

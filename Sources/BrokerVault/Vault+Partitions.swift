import BrokerModel

extension Vault: PartitionStore {
    package func partitions() throws(VaultError) -> [PartitionSummary] { try reader.partitions() }

    package func erase(_ partition: Partition) async throws(VaultError) {
        guard !isLocked else { throw .locked }
        try await onQueue(of: partition) { [vaultWriter, opened] () throws(VaultError) in
            try vaultWriter.erase(partition)
            opened.wipe()
        } afterwards: { [vaultWriter] in
            // The log contains deleted records until then.
            vaultWriter.tidy()
        }
    }
}

import BrokerModel
import BrokerValues

extension GrantStore {
    /// Erases all records of a partition, and its grants in memory. No use of a grant is written meanwhile: that would be a record
    /// of the erased grant.
    package func erase(
        _ partition: Partition, by erase: @escaping @Sendable () async throws(BrokerError) -> Void
    ) async throws(BrokerError) {
        try await turns.run { [self] () async throws(BrokerError) in
            try await erase()
            state.withLock { state in
                state.ledgers.forget(partition)
                state.unwritten.used[partition] = nil
                state.unwritten.revokedNotWritten[partition] = nil
                state.currentIDs.forget(partition)
            }
        }
    }
}

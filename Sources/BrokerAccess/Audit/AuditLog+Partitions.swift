import BrokerModel
import BrokerValues

extension AuditLog {
    /// Erases all records of a partition, and its log in memory. Nothing is written meanwhile: a log that continues erased
    /// entries would look as if entries had been removed.
    package func erase(
        _ partition: Partition, by erase: @escaping @Sendable () async throws(BrokerError) -> Void
    ) async throws(BrokerError) {
        try await turns.run { () async throws(BrokerError) in
            try await self.rows.holding(partition) { () async throws(BrokerError) in
                try await erase()
                self.forget(partition)
            }
        }
    }

    private func forget(_ partition: Partition) {
        state.withLock { state in
            for tally in state.removeTallies(of: partition) where !tally.isAggregate {
                state.waiting.leave(for: tally.payer.caller, of: tally.payer.user)
            }
            state.written(state.unwritten[partition]?.entries.count ?? 0, of: partition)
            state.lost[partition] = nil
            state.audits.remove(partition)
        }
    }
}

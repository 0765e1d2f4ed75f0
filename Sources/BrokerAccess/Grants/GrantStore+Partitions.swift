import BrokerModel

extension GrantStore {
    /// The vault has nothing of the partition any more.
    package func forget(_ partition: Partition) {
        state.withLock { state in
            state.ledgers.forget(partition)
            state.unwritten.used[partition] = nil
            state.unwritten.revokedNotWritten[partition] = nil
            state.currentIDs.forget(partition)
        }
    }
}

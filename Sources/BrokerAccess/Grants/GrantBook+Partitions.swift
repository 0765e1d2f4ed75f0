import BrokerModel

extension GrantBook {
    /// The vault has nothing of the partition any more.
    package func forget(_ partition: Partition) {
        state.withLock { state in
            state.ledgers[partition] = nil
            state.used[partition] = nil
            state.undead[partition] = nil
            state.currentIDs[partition] = nil
        }
    }
}

import BrokerModel

extension AuditLog {
    /// The vault has nothing of the partition any more.
    package func forget(_ partition: Partition) {
        state.withLock { state in
            state.order.removeAll { $0.caller.partition == partition }
            state.tallies = state.tallies.filter { $0.key.partition != partition }
            state.unwritten[partition] = nil
            state.lost[partition] = nil
            state.chains[partition] = nil
        }
    }
}

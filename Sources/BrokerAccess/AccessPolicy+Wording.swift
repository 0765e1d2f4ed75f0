import BrokerValues

extension AccessPolicy {
    /// The error in words that its reader can act on: where the broker serves all users, only root unlocks it.
    package func fitting(_ error: BrokerError, _ caller: Caller) -> BrokerError {
        guard error.kind == .locked, !isOwner(caller) else { return error }
        var error = error
        error.message = "The broker is locked, and only root may unlock it; ask an administrator for brokerctl unlock."
        return error
    }
}

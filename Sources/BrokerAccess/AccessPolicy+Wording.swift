import BrokerValues

extension AccessPolicy {
    /// The error with advice that the caller can follow: if the broker serves all users, only root can unlock it.
    package func fitting(_ error: BrokerError, _ caller: Caller) -> BrokerError {
        guard error.kind == .locked, !isOwner(caller) else { return error }
        var error = error
        error.message = "The broker is locked, and only root may unlock it; ask an administrator for brokerctl unlock."
        return error
    }
}

import BrokerModel
import BrokerValues

/// The engine: what the harnesses of BrokerServer call.
package final class TokenBroker: Sendable {
    /// The hot path: answers from the cache without waiting, or returns nil when anything would have to wait or to be
    /// refused. Safe on an event loop.
    package func cached(_ request: SilentRequest) -> AcquiredToken? { nil }

    package func acquireSilent(_ request: SilentRequest) async throws(BrokerError) -> AcquiredToken {
        throw BrokerError(.internal, "")
    }

    /// - Parameter onOpen: called once, when the redirect is awaited and the URL may be opened.
    package func acquireInteractive(
        _ request: InteractiveRequest, onOpen: @escaping @Sendable (InteractionOpening) -> Void
    ) async throws(BrokerError) -> AcquiredToken {
        throw BrokerError(.internal, "")
    }

    /// A redirect received elsewhere (URL handler, pasted). Throws `invalidParameter` when it belongs to no waiting sign-in.
    package func complete(redirectURL: Secret, in partition: Partition) async throws(BrokerError) {}

    /// - Returns: whether there was one to cancel.
    package func cancel(interactionID: String, in partition: Partition) -> Bool { false }

    /// - Parameter app: nil lists every group's accounts (for the person's own tools).
    package func accounts(of app: AppRegistration?, includeSignedOut: Bool, in partition: Partition)
        throws(BrokerError) -> [Account]
    { [] }

    package func account(_ selector: AccountSelector, of app: AppRegistration?, in partition: Partition)
        throws(BrokerError) -> Account?
    { nil }

    /// Takes the account's tokens from one app. - Returns: how many the app lost.
    package func remove(_ selector: AccountSelector, from app: AppRegistration, in partition: Partition)
        async throws(BrokerError) -> Int
    { 0 }

    package var refreshesInFlight: Int { 0 }

    /// Lets refreshes in flight finish and cancels waiting interactions.
    package func drain() async {}

    package init() {}
}

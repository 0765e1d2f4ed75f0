import BrokerModel
import BrokerValues

/// What a request says about the app it is for.
package enum AppReference: Sendable, Equatable {
    case registered(name: String)
    case adHoc(clientID: String, authority: String)
}

/// Decides before any work starts.
package struct AccessPolicy: Sendable {
    /// Facts of the peer turned into a caller, or `accessDenied`/`otherUser`.
    package func identify(_ facts: PeerFacts) throws(BrokerError) -> Caller { throw BrokerError(.internal, "") }

    /// The app this caller may act as. Synchronous and quick: part of the hot path.
    package func admit(_ caller: Caller, as reference: AppReference) throws(BrokerError) -> AppRegistration {
        throw BrokerError(.internal, "")
    }
    package init() {}
}

import BrokerModel
import BrokerValues

/// What an app may have at most, whoever asks as it and whoever agreed (decision 70).
extension AppRegistration {
    /// For a request, before any work. Part of the hot path.
    func requireWithinCeiling(_ reach: AppReach) throws(BrokerError) {
        guard let scopeCeiling, let asked = reach.scopes(by: self) else { return }
        let above = asked.subtracting(scopeCeiling)
        guard above.isEmpty else { throw aboveCeiling("may not ask for \(above.parameter)") }
    }

    /// For a token, before it leaves: the cache of a group or a provider may have one that is good for more.
    ///
    /// - Parameter token: what it is good for; nil where nobody can tell.
    package func requireWithinCeiling(token scopes: [String]?) throws(BrokerError) {
        guard let scopeCeiling else { return }
        guard let scopes else { throw aboveCeiling("got a token that is good for more than can be told") }
        let above = Scopes(scopes).subtracting(scopeCeiling)
        guard above.isEmpty else { throw aboveCeiling("got a token that is good for \(above.parameter) as well") }
    }

    private func aboveCeiling(_ what: String) -> BrokerError {
        BrokerError(
            .accessDenied,
            "\(description.name) \(what), which is not among the scopes allowed to it; allow it with brokerctl apps edit --allowed-scope, or where brokerctl apps list says that it is registered.",
            reason: .scopesNotAllowed
        ) { $0.app = grantName }
    }
}

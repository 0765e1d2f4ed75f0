import BrokerModel
import BrokerValues

/// The most that an app may have, for any caller and any grant (decision 23).
extension AppRegistration {
    /// Checks a request, before any work is done. Part of the hot path.
    ///
    /// - Throws: `accessDenied` (`scopesNotAllowed`).
    func requireWithinCeiling(_ reach: AppReach) throws(BrokerError) {
        guard let scopeCeiling, let asked = reach.scopes(by: self) else { return }
        let above = asked.subtracting(scopeCeiling)
        guard above.isEmpty else { throw aboveCeiling("may not ask for \(above.parameter)") }
    }

    /// Checks a token before it is returned: the cache of a group may have one with more scopes, and a provider may issue one.
    ///
    /// - Parameter token: its scopes; `nil` if unknown.
    /// - Throws: `accessDenied` (`scopesNotAllowed`).
    package func requireWithinCeiling(token scopes: [String]?) throws(BrokerError) {
        guard let scopeCeiling else { return }
        guard let scopes else { throw aboveCeiling("got a token whose scopes are unknown") }
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

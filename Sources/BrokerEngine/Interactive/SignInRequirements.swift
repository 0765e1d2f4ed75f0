import BrokerModel
import BrokerTokenCache
import BrokerValues

/// The person that has to sign in, and how recently. Pure.
package struct SignInRequirements: Sendable {
    /// The requested account; always binding.
    package var account: KnownAccount?
    /// The login hint, if it is binding.
    package var username: String?
    /// The maximum of seconds between authentication and ``startedAt``.
    package var maxAge: Int64?
    package var startedAt: NumericDate = 0
    /// The authentication contexts of which one is required; empty takes any, `nil` does not ask
    /// (``ClaimsRule/essentialContexts(in:)``).
    package var contexts: [String]?

    package init() {}

    /// Seconds that the provider's clock may differ from ours.
    package static let clockSkew: Int64 = 300

    /// - Parameters:
    ///   - home: the account that the ID token names.
    ///   - environment: the environment of the ID token's issuer.
    ///   - username: the name under which the broker would list it.
    ///   - authenticatedAt: `auth_time` (OpenID Connect Core, section 2).
    /// - Throws: `mismatchedUser`; `invalidResponse` and `interactionRequired` if `auth_time` is missing or too old.
    package func check(
        home: HomeAccountID, environment: String, username: String, authenticatedAt: NumericDate?
    ) throws(BrokerError) {
        // An id identifies an account only where it was issued.
        let person = KnownAccounts.PersonKey(homeAccountID: home, environment: environment)
        if let account, KnownAccounts.PersonKey(account.stored.record) != person {
            throw Self.mismatch(account.account.username)
        }
        // The account's own name may have changed since; a hint is all that is known of the person.
        if account == nil, let wanted = self.username, wanted.lowercased() != username.lowercased() {
            throw Self.mismatch(wanted)
        }
        // OpenID Connect Core, section 3.1.3.7, rule 13.
        guard let maxAge else { return }
        // glewlwyd sends 0 if it does not know.
        guard let authenticatedAt, authenticatedAt > 0 else {
            throw BrokerError(
                .invalidResponse,
                "The provider does not say when the person authenticated (auth_time), although it was asked to.")
        }
        let earliest = startedAt - min(maxAge, startedAt) - Self.clockSkew
        guard authenticatedAt >= earliest else {
            throw BrokerError(
                .interactionRequired,
                "The provider accepted a sign-in that is older than requested; sign in again, with prompt \"login\".",
                reason: .loginRequired)
        }
    }

    /// - Parameter acr: how the person authenticated (OpenID Connect Core, section 2).
    /// - Throws: `invalidResponse`: the provider had to fail the sign-in itself (section 5.5.1.1).
    package func check(acr: String?) throws(BrokerError) {
        guard let contexts else { return }
        guard let acr, contexts.isEmpty || contexts.contains(acr) else {
            throw BrokerError(
                .invalidResponse,
                "The provider did not authenticate the person as the app requires (acr); contact its operator.")
        }
    }

    /// Checks the authentication context after a refresh. The response need not have an ID token; without one only a sign-in can
    /// meet the requirement.
    ///
    /// - Throws: `interactionRequired`, `claimsChallenge`.
    static func checkRefreshed(acr: String?, among contexts: [String]?) throws(BrokerError) {
        guard let contexts else { return }
        guard let acr, contexts.isEmpty || contexts.contains(acr) else {
            throw BrokerError(
                .interactionRequired,
                "The saved sign-in does not meet the app's authentication requirement (acr); sign in "
                    + "interactively with the same claims.", reason: .claimsChallenge)
        }
    }

    private static func mismatch(_ wanted: String) -> BrokerError {
        BrokerError(
            .mismatchedUser, "Another person signed in than the requested one; sign in as \(wanted).")
    }
}

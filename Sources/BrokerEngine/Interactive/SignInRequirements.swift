import BrokerModel
import BrokerValues

/// Who has to sign in, and how recently. Pure.
package struct SignInRequirements: Sendable {
    /// Whose tokens are wanted.
    package struct Person: Sendable {
        package var homeAccountID: HomeAccountID
        /// An id says whose account it is only where it was given.
        package var environment: String
        package var username: String

        package init(homeAccountID: HomeAccountID, environment: String, username: String) {
            self.homeAccountID = homeAccountID
            self.environment = environment
            self.username = username
        }

        init(_ entry: KnownAccounts.Entry) {
            self.init(
                homeAccountID: entry.stored.record.homeAccountID, environment: entry.stored.record.environment,
                username: entry.account.username)
        }
    }

    /// The account asked for; always binds.
    package var account: Person?
    /// The login hint, where it binds.
    package var username: String?
    /// Seconds between the proof of who they are and ``startedAt``.
    package var maxAge: Int64?
    package var startedAt: NumericDate = 0
    /// Of which authentication contexts there must be one; empty takes any, nil does not ask
    /// (``ClaimsRule/essentialContexts(in:)``).
    package var contexts: [String]?

    package init() {}

    /// Seconds that the provider's clock may differ from ours.
    package static let clockSkew: Int64 = 300

    /// - Parameters:
    ///   - home: the account that the ID token names.
    ///   - environment: where it was signed.
    ///   - username: by which the broker would list it.
    ///   - authenticatedAt: `auth_time` (OpenID Connect Core, section 2).
    /// - Throws: `mismatchedUser`; `invalidResponse` and `interactionRequired` for a proof without a time, or too old.
    package func check(
        home: HomeAccountID, environment: String, username: String, authenticatedAt: NumericDate?
    ) throws(BrokerError) {
        if let account, account.homeAccountID != home || account.environment != environment {
            throw Self.mismatch(account.username)
        }
        // The account's own name may have changed since; a hint is all that is known of the person.
        if account == nil, let wanted = self.username, wanted.lowercased() != username.lowercased() {
            throw Self.mismatch(wanted)
        }
        // OpenID Connect Core, section 3.1.3.7, rule 13.
        guard let maxAge else { return }
        // glewlwyd says 0 when it does not know.
        guard let authenticatedAt, authenticatedAt > 0 else {
            throw BrokerError(
                .invalidResponse,
                "The provider does not say when the person proved who they are (auth_time), although it was asked to.")
        }
        let earliest = startedAt - min(maxAge, startedAt) - Self.clockSkew
        guard authenticatedAt >= earliest else {
            throw BrokerError(
                .interactionRequired,
                "The provider took a sign-in that is older than asked for; sign in again, with prompt \"login\".",
                reason: .loginRequired)
        }
    }

    /// - Parameter acr: how the person proved who they are (OpenID Connect Core, section 2).
    /// - Throws: `invalidResponse`: the provider had to fail the sign-in itself (section 5.5.1.1).
    package func check(acr: String?) throws(BrokerError) {
        guard let contexts else { return }
        guard let acr, contexts.isEmpty || contexts.contains(acr) else {
            throw BrokerError(
                .invalidResponse,
                "The provider did not let the person prove who they are in the way that the app demands (acr); ask who "
                    + "runs it.")
        }
    }

    /// The same of a silent request's answer. It need not have an ID token, and then proves nothing: the person can.
    ///
    /// - Throws: `interactionRequired`, `claimsChallenge`.
    static func checkRefreshed(acr: String?, among contexts: [String]?) throws(BrokerError) {
        guard let contexts else { return }
        guard let acr, contexts.isEmpty || contexts.contains(acr) else {
            throw BrokerError(
                .interactionRequired,
                "The saved sign-in does not prove who the person is in the way that the app demands (acr); ask "
                    + "interactively, with the same claims.", reason: .claimsChallenge)
        }
    }

    private static func mismatch(_ wanted: String) -> BrokerError {
        BrokerError(
            .mismatchedUser, "Another person signed in than the one asked for; sign in as \(wanted).")
    }
}

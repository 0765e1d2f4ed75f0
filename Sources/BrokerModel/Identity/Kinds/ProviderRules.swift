/// The differences of one kind of provider. All other code uses these rules, and does not distinguish kinds itself. The defaults
/// are those of any OpenID provider; a kind overrides them. Pure.
package protocol ProviderRules: Sendable {
    // MARK: Authorities

    /// Whether a URL is of this kind if its host is not configured. No two kinds recognize one URL, except that the generic kind,
    /// asked last, accepts all.
    func recognizes(_ url: AuthorityURL) -> Bool

    /// - Throws: what the URL lacks to be an authority of this kind.
    func form(of url: AuthorityURL) throws(InvalidAuthority) -> AuthorityForm

    /// Whether clients are valid for the whole host, which is the provider's own then. Otherwise a client belongs to its issuer,
    /// and so does its secret.
    var hasHostWideClients: Bool { get }

    /// Whether there are clouds, one of which is a user's home (``CloudRules``).
    var hasClouds: Bool { get }

    // MARK: Metadata

    /// The path between authority and well-known address.
    var protocolPath: String { get }

    /// Whether OpenID's document always exists. If not, that of RFC 8414 or the administrator's settings are enough.
    var alwaysHasOpenIDDocument: Bool { get }

    /// Whether this issuer may issue the authority's document (``IssuerRule``).
    func admits(_ issuer: AuthorityURL, for authority: AuthorityForm) -> Bool

    // MARK: People

    /// Whether requests ask for `client_info`: the account's home.
    var asksClientInfo: Bool { get }

    /// - Parameter sent: the home from `client_info`, if the provider sent it.
    func home(of claims: IDTokenClaims, sent: HomeAccountID?) -> HomeAccountID

    // MARK: Requests

    /// Whether requests that must not prompt the user carry an ID token (`id_token_hint`).
    var takesIDTokenHint: Bool { get }

    /// Whether `offline_access` is accepted, and needed for a refresh token, although the metadata may not list it.
    var takesOfflineAccess: Bool { get }

    /// Whether requests carry the correlation id, and the other values that Microsoft's servers read.
    var takesRequestID: Bool { get }

    /// Whether a refresh token is valid for everything that the user consented to, not only for the scopes that it was granted
    /// with.
    ///
    /// Then no request narrows it; each must again ask for the scopes that the broker adds itself (`offline_access` for the next
    /// refresh token); and `invalid_scope` does not mean that the user has to consent.
    var grantsFollowConsent: Bool { get }

    /// Whether a scope begins with its resource, which responses may leave out or add.
    var scopesNameResources: Bool { get }

    // MARK: Answers

    /// Classifies a refusal of a refresh token.
    func meaning(of refusal: OAuthRefusal) -> RefusedGrant
}

extension ProviderRules {
    package var hasHostWideClients: Bool { false }
    package var hasClouds: Bool { false }
    package var protocolPath: String { "" }
    package var alwaysHasOpenIDDocument: Bool { true }
    package var asksClientInfo: Bool { false }
    package var takesIDTokenHint: Bool { true }
    package var takesOfflineAccess: Bool { false }
    package var takesRequestID: Bool { false }
    package var grantsFollowConsent: Bool { false }
    package var scopesNameResources: Bool { false }

    package func meaning(of refusal: OAuthRefusal) -> RefusedGrant { .standard(refusal) }

    package func home(of claims: IDTokenClaims, sent: HomeAccountID?) -> HomeAccountID {
        HomeAccountID(subject: claims.subject.text, issuer: claims.issuer.text)
    }
}

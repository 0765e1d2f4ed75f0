/// What is particular to one kind of provider. Everything else asks, and does not tell kinds apart itself. A kind says
/// what it has otherwise than any OpenID provider: that is what the defaults are. Pure.
package protocol ProviderRules: Sendable {
    // MARK: Authorities

    /// Whether a URL is of this kind when nobody says what its host is. No two kinds recognize one URL, except that
    /// the generic kind, asked last, takes all.
    func recognizes(_ url: AuthorityURL) -> Bool

    /// - Throws: what the URL lacks to be an authority of this kind.
    func form(of url: AuthorityURL) throws(Authority.Invalid) -> AuthorityForm

    /// Whether clients are known at the whole host, which is the provider's own then. Else a client is its issuer's, and so is its secret.
    var hasHostWideClients: Bool { get }

    /// Whether there are clouds, of which a person has one as home (``CloudRules``).
    var hasClouds: Bool { get }

    // MARK: Metadata

    /// Between authority and well-known address.
    var protocolPath: String { get }

    /// Whether OpenID's document is always there. Else that of RFC 8414 will do, or what the administrator says.
    var alwaysHasOpenIDDocument: Bool { get }

    /// Whether an authority's document may be issued by this issuer (``IssuerRule``).
    func admits(_ issuer: Authority, for authority: Authority) -> Bool

    // MARK: People

    /// Whether `client_info` is asked for: the account's home.
    var asksClientInfo: Bool { get }

    /// - Parameter told: the home as `client_info` has it, if it came.
    func home(of claims: IDTokenClaims, told: HomeAccountID?) -> HomeAccountID

    // MARK: Requests

    /// Whether an ID token of the person is shown where the provider must not ask (`id_token_hint`).
    var takesIDTokenHint: Bool { get }

    /// Whether `offline_access` is taken, and wanted for a refresh token, although the metadata may not name it.
    var takesOfflineAccess: Bool { get }

    /// Whether requests carry the correlation id, and what else Microsoft's servers read of a request.
    var takesRequestID: Bool { get }

    /// Whether a refresh token is good for all that the person agreed to, not just for what it was granted with.
    ///
    /// Then no request narrows it; each has to ask anew for what the broker adds itself (`offline_access` for the next
    /// refresh token); and `invalid_scope` does not mean that the person has to agree.
    var grantsFollowConsent: Bool { get }

    /// Whether a scope begins with the resource that it is for, which answers may leave out or add.
    var scopesNameResources: Bool { get }

    // MARK: Answers

    /// What a refusal of a refresh token is about.
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

    package func home(of claims: IDTokenClaims, told: HomeAccountID?) -> HomeAccountID {
        HomeAccountID(subject: claims.subject.text, issuer: claims.issuer.text)
    }
}

/// An authority's URL before its kind has been heard.
package struct AuthorityURL: Sendable {
    /// Lower-cased, with its port where that is not the scheme's own.
    package let host: String
    /// Without slashes around it.
    package let path: String
    let segments: [String]

    init(host: String, path: String) {
        (self.host, self.path) = (host, path)
        segments = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }

    func begins(with segment: String) -> Bool { segments.first?.lowercased() == segment }
}

/// What host and path mean to a kind, in one spelling.
package struct AuthorityForm: Sendable {
    let environment: String
    let path: String
    /// Nil where there are no tenants to choose from.
    var tenant: Tenant?
}

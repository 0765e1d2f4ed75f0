/// What a token is asked for with, whichever way it is got.
package struct TokenQuery: Sendable, Hashable {
    /// None means the app's usual ones.
    package var scopes: [String]
    /// Whose token; nil means whoever fits.
    package var account: AccountReference?
    /// A claims request (OpenID Connect Core, section 5.5) or challenge, as JSON: bypasses the cached access token.
    package var claims: String?
    /// Seconds the token must still be good for.
    package var minimumLifetime: Int64?
    /// Which token that is, and whose end the answer tells.
    package var lifetimeOf = MeasuredToken.accessToken
    package var tokenType = TokenType.bearer
    /// Where the token shall be good (RFC 8707).
    package var resources: [String] = []
    /// What the app can deal with, such as `cp1` (claims challenges); goes into the claims request.
    package var clientCapabilities: [String] = []
    /// Entra: whether the person may be at home in another cloud; nil leaves it to the app's registration.
    package var instanceAware: Bool?
    /// Goes along with a refresh, or with the request for a device code; never with what the cache answers.
    package var extraParameters: [String: String] = [:]
    /// What a resource server asks for besides.
    package var challenge: ResourceChallenge?

    package init(scopes: [String] = []) { self.scopes = scopes }
}

/// What is asked of the person in the browser, beside the token.
package struct InteractiveQuery: Sendable, Hashable {
    package var loginHint: String?
    package var domainHint: String?
    package var prompt: Prompt?
    /// The token need not have them.
    package var extraScopesToConsent: [String] = []
    package var extraQueryParameters: [String: String] = [:]
    /// Seconds since the person last proved who they are.
    package var maxAge: Int64?
    package var acrValues: [String] = []
    /// Whether somebody else than ``loginHint`` is refused; the account asked for always binds.
    package var isHintBinding = false
    /// Hand the authorization request in beforehand (RFC 9126) although the provider does not demand it.
    package var pushesAuthorization = false
    package var redirectURI: String?
    package var presentation = Presentation.client
    /// Seconds.
    package var timeout = Self.defaultTimeout

    package static let defaultTimeout: Int64 = 300

    package init() {}
}

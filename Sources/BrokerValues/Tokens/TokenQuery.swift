/// The parameters of a token request, for every way of getting the token.
package struct TokenQuery: Sendable, Hashable {
    /// The token's scopes; empty for the app's usual ones, unless ``isNarrow``.
    package var scopes: [String]
    /// Whether the token should have no more than ``scopes``, and those that every token may have.
    package var isNarrow = false
    /// The token's account; `nil` means any that fits.
    package var account: AccountReference?
    /// A claims request (OpenID Connect Core, section 5.5) or challenge, as JSON: bypasses the cached access token.
    package var claims: String?
    /// The token's minimum remaining lifetime, in seconds.
    package var minimumLifetime: Int64?
    /// The token to which that applies, and whose end is in the response.
    package var lifetimeOf = MeasuredToken.accessToken
    package var tokenType = TokenType.bearer
    /// The resources of the token (RFC 8707).
    package var resources: [String] = []
    /// The app's capabilities, such as `cp1` (claims challenges); part of the claims request.
    package var clientCapabilities: [String] = []
    /// Whether the user may belong to another cloud (Entra); `nil` uses the app's registration.
    package var instanceAware: Bool?
    /// Parameters sent with a refresh, or with the request for a device code; they do not affect cached tokens.
    package var extraParameters: [String: String] = [:]
    /// A resource server's further requirements.
    package var challenge: ResourceChallenge?

    package init(scopes: [String] = []) { self.scopes = scopes }
}

/// The parameters of an interactive request, in addition to those of the token.
package struct InteractiveQuery: Sendable, Hashable {
    package var loginHint: String?
    package var domainHint: String?
    package var prompt: Prompt?
    /// Scopes that the user consents to at the same time; the token need not include them.
    package var extraScopesToConsent: [String] = []
    package var extraQueryParameters: [String: String] = [:]
    /// The maximum age of the user's last authentication, in seconds.
    package var maxAge: Int64?
    package var acrValues: [String] = []
    /// Whether a user other than ``loginHint`` is refused; a requested account is always binding.
    package var isHintBinding = false
    /// Whether the authorization request is pushed (RFC 9126) although the provider does not require it.
    package var pushesAuthorization = false
    package var redirectURI: String?
    package var presentation = Presentation.client
    /// The seconds that the user has.
    package var timeout = Self.defaultTimeout

    package static let defaultTimeout: Int64 = 300

    package init() {}
}

import BrokerValues

/// An OAuth 2 authorization server and OpenID provider, as the engine uses it.
package protocol IdentityProvider: Sendable {
    /// Discovery (OpenID Connect Discovery 1.0, section 4), from the cache if it is fresh.
    func metadata(of authority: Authority) async throws(ProviderError) -> ProviderMetadata

    /// The URL that the user's browser opens (RFC 6749, section 4.1.1; RFC 7636; OpenID Connect Core, section 3.1.2.1).
    func authorizationURL(_ request: AuthorizationRequest, at metadata: ProviderMetadata) -> String

    /// Pushes the authorization request to the provider (RFC 9126).
    ///
    /// - Returns: the input of ``authorizationURL(of:as:at:)`` for the browser's URL.
    func push(
        _ request: AuthorizationRequest, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> PushedAuthorization

    /// The URL that the user's browser opens after ``push(_:as:at:)`` (RFC 9126, section 4).
    func authorizationURL(
        of pushed: PushedAuthorization, as clientID: String, at metadata: ProviderMetadata
    ) -> String

    /// Begins a sign-in on another device (RFC 8628, section 3.1).
    func authorizeDevice(
        _ request: DeviceAuthorizationRequest, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> DeviceAuthorization

    /// One attempt at the token endpoint; the provider layer never repeats it, except when the provider requires a nonce (RFC
    /// 9449, section 8).
    func redeem(
        _ grant: TokenGrant, with extras: TokenRequestExtras, as client: ClientCredentials,
        at metadata: ProviderMetadata
    ) async throws(ProviderError) -> TokenResponse

    /// Asks for the user of an access token (OpenID Connect Core, section 5.3).
    ///
    /// - Parameter key: the key to which the token is bound, if any.
    func userInfo(
        with accessToken: Secret, _ type: TokenType, provenBy key: ProofKey?, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> UserInfo

    /// Revokes a token at the provider (RFC 7009).
    func revoke(
        _ token: Secret, _ kind: RevocableToken, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError)

    /// The page that ends the browser's session (OpenID Connect RP-Initiated Logout 1.0); `nil` if there is none.
    func endSessionURL(_ request: EndSessionRequest, at metadata: ProviderMetadata) -> String?

    /// Registers a client at the provider (RFC 7591).
    func register(
        _ request: ClientRegistrationRequest, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> RegisteredClient

    /// Checks the signature against the JWKS, then `iss`, `aud`, `azp`, `exp`, `iat`, `nonce`, `at_hash` (OpenID Connect Core,
    /// section 3.1.3.7).
    func verify(
        idToken: Secret, against expectation: IDTokenExpectation, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> IDTokenClaims
}

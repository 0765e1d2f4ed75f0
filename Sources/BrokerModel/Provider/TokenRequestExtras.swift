/// Optional parameters of any grant.
package struct TokenRequestExtras: Sendable {
    /// A claims request (OpenID Connect Core, section 5.5) or challenge.
    package var claims: String?
    /// The resources of the token (RFC 8707, section 2).
    package var resources: [String] = []
    /// The key for binding the token (RFC 9449); `nil` asks for a bearer token.
    package var proofKey: ProofKey?
    /// Entra: asks for `client_info`, which names the account's home.
    package var asksClientInfo = false
    /// Entra: lets the provider's administrators find the request.
    package var correlationID: String?
    /// Entra: the account's home, which routes the request to the right data centre.
    package var home: HomeAccountID?
    /// From the app; none is the broker's own.
    package var parameters: [String: String] = [:]

    package init() {}
}

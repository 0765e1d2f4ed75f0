import BrokerValues

/// A successful response of the token endpoint (RFC 6749, section 5.1).
package struct TokenResponse: Sendable {
    package var accessToken: Secret
    package var tokenType: TokenType
    /// In seconds; `nil` if the provider does not say.
    package var expiresIn: Int64?
    package var extendedExpiresIn: Int64?
    package var refreshIn: Int64?
    package var refreshToken: Secret?
    package var idToken: Secret?
    /// `nil` means the requested scopes.
    package var scope: String?
    package var familyID: String?
    package var clientInfo: String?

    package init(
        accessToken: Secret, tokenType: TokenType = .bearer, expiresIn: Int64? = nil, extendedExpiresIn: Int64? = nil,
        refreshIn: Int64? = nil, refreshToken: Secret? = nil, idToken: Secret? = nil, scope: String? = nil,
        familyID: String? = nil, clientInfo: String? = nil
    ) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.expiresIn = expiresIn
        self.extendedExpiresIn = extendedExpiresIn
        self.refreshIn = refreshIn
        self.refreshToken = refreshToken
        self.idToken = idToken
        self.scope = scope
        self.familyID = familyID
        self.clientInfo = clientInfo
    }
}

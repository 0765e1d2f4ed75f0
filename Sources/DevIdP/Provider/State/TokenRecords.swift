/// What one sign-in allows one client. All tokens that descend from a code belong to its grant: ending the grant ends
/// the family.
struct Grant: Sendable {
    let id: String
    let clientID: String
    let username: String
    let sessionID: String
    let authenticatedAt: Int
    let nonce: String?
    let scopes: [String]
    let resources: [String]
    /// Authentication context class: the first that was asked for.
    let acr: String?
    let claims: ClaimsRequest
    var isRevoked = false

    /// What comes of a request when this person has agreed to it.
    init(_ request: AuthorizationRequest, account: SignedInAccount, sessionID: String, scopes: [String]) {
        id = randomText()
        clientID = request.clientID
        username = account.username
        self.sessionID = sessionID
        authenticatedAt = account.authenticatedAt
        nonce = request.nonce
        self.scopes = scopes
        resources = request.resources
        acr = request.acrValues.first ?? request.claims.values(of: "acr", in: "id_token").first?.string
        claims = request.claims
    }
}

/// A code, good for one exchange by the client and redirect URI it was made for (RFC 6749, section 4.1.2).
struct AuthorizationCode: Sendable {
    let grantID: String
    let redirectURI: String
    let challenge: String
    let proofKey: String?
    var expiresAt: Int
    var isUsed = false
}

struct AccessTokenRecord: Sendable {
    let grantID: String
    let clientID: String
    let identity: Identity
    let scopes: [String]
    let audience: [String]
    /// Thumbprint of the key it is bound to (RFC 9449, section 6).
    let proofKey: String?
    var expiresAt: Int
}

struct RefreshTokenRecord: Sendable {
    let grantID: String
    /// Thumbprint of the key it is bound to: those of public clients are (RFC 9449, section 5).
    let proofKey: String?
    var expiresAt: Int
    /// When it was exchanged, where tokens rotate.
    var usedAt: Int?
}

/// What a successful exchange may be answered with.
struct Redemption: Sendable {
    let grant: Grant
    var scopes: [String]
    var resources: [String]
    let refreshToken: String?
    /// Only the first ID token carries the nonce (OpenID Connect Core, section 12.2).
    let nonce: String?
}

/// Who asks for tokens, and how.
struct TokenAsker: Sendable {
    let client: ProviderClient
    /// Thumbprint of the key that the request was proven with.
    let proofKey: String?
    let policy: TokenPolicy
    let now: Int
    /// For the next refresh token.
    let freshName: String

    /// What its refresh tokens are bound to.
    var bindingKey: String? { client.secret == nil || policy.bindsRefreshTokensOnly ? proofKey : nil }
    /// What its access tokens are bound to.
    var accessTokenKey: String? { policy.bindsRefreshTokensOnly ? nil : proofKey }
}

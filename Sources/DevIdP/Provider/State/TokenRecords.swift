/// The permissions of one client from one sign-in. All tokens that descend from a code belong to its grant: ending the
/// grant ends the family.
struct Grant: Sendable {
    let id: String
    let clientID: String
    let username: String
    let sessionID: String
    let authenticatedAt: Int
    let nonce: String?
    let scopes: [String]
    let resources: [String]
    /// Authentication context class: the first requested one.
    let acr: String?
    let claims: ClaimsRequest
    var isRevoked = false

    /// The grant for a request after this person's consent.
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

/// A code, valid for one exchange by its client and redirect URI (RFC 6749, section 4.1.2).
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
    /// Thumbprint of the bound key (RFC 9449, section 6).
    let proofKey: String?
    var expiresAt: Int
}

struct RefreshTokenRecord: Sendable {
    let grantID: String
    /// Thumbprint of the bound key, for public clients (RFC 9449, section 5).
    let proofKey: String?
    var expiresAt: Int
    /// When it was exchanged, if tokens rotate.
    var usedAt: Int?
}

/// The content of the response to a successful exchange.
struct Redemption: Sendable {
    let grant: Grant
    var scopes: [String]
    var resources: [String]
    let refreshToken: String?
    /// Only the first ID token carries the nonce (OpenID Connect Core, section 12.2).
    let nonce: String?
}

/// The client of a token request, and its proof.
struct TokenRequester: Sendable {
    let client: ProviderClient
    /// Thumbprint of the key of the request's proof.
    let proofKey: String?
    let policy: TokenPolicy
    let now: Int
    /// The name of the next refresh token.
    let freshName: String

    /// The key to which its refresh tokens are bound.
    var bindingKey: String? { client.secret == nil || policy.bindsRefreshTokensOnly ? proofKey : nil }
    /// The key to which its access tokens are bound.
    var accessTokenKey: String? { policy.bindsRefreshTokensOnly ? nil : proofKey }
}

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
    var isRevoked = false
}

/// A code, good for one exchange by the client and redirect URI it was made for (RFC 6749, section 4.1.2).
struct AuthorizationCode: Sendable {
    let grantID: String
    let redirectURI: String
    let challenge: String
    var expiresAt: Int
    var isUsed = false
}

struct AccessTokenRecord: Sendable {
    let grantID: String
    let scopes: [String]
    var expiresAt: Int
}

struct RefreshTokenRecord: Sendable {
    let grantID: String
    var expiresAt: Int
    /// When it was exchanged, where tokens rotate.
    var usedAt: Int?
}

/// What a successful exchange may be answered with.
struct Redemption: Sendable {
    let grant: Grant
    let scopes: [String]
    let refreshToken: String?
    /// Only the first ID token carries the nonce (OpenID Connect Core, section 12.2).
    let nonce: String?
}

import Crypto
import FoundationEssentials
import JWTKit

/// OpenID Connect Core, section 2.
struct IDTokenClaims: JWTPayload {
    var iss: String
    var sub: String
    var aud: String
    var exp: Int
    var iat: Int
    var auth_time: Int
    var nonce: String?
    var at_hash: String?
    var sid: String
    var preferred_username: String?
    var name: String?
    var email: String?
    var email_verified: Bool?

    /// The signature is all that is asked of an ID token hint: it may have expired long ago.
    func verify(using algorithm: some JWTAlgorithm) async throws {}
}

/// RFC 9068, section 2.2.
struct AccessTokenClaims: JWTPayload {
    var iss: String
    var sub: String
    var aud: String
    var exp: Int
    var iat: Int
    var jti: String
    var client_id: String
    var scope: String

    func verify(using algorithm: some JWTAlgorithm) async throws {}
}

/// `at_hash` of OpenID Connect Core, section 3.1.3.6, for the SHA-256 algorithms.
func accessTokenHash(_ token: String) -> String {
    Data(SHA256.hash(data: Data(token.utf8)).prefix(16)).base64URLText
}

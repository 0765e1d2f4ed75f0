import Crypto
import FoundationEssentials
import JWTKit

/// The claims of an ID token (OpenID Connect Core, section 2) or an access token (RFC 9068, section 2.2).
struct ClaimSet: JWTPayload {
    var members: [String: JSON]

    init(_ members: [String: JSON]) { self.members = members }

    init(from decoder: any Decoder) throws { members = try decoder.singleValueContainer().decode([String: JSON].self) }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(members)
    }

    subscript(name: String) -> JSON? {
        get { members[name] }
        set { members[name] = newValue }
    }

    /// An ID token hint needs only a valid signature: it may have expired long ago.
    func verify(using algorithm: some JWTAlgorithm) async throws {}
}

/// `at_hash` of OpenID Connect Core, section 3.1.3.6, for the SHA-256 algorithms.
func accessTokenHash(_ token: String) -> String {
    Data(SHA256.hash(data: Data(token.utf8)).prefix(16)).base64URLText
}

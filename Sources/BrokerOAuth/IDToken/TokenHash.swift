import BrokerModel
import BrokerValues

/// `at_hash` (OpenID Connect Core, section 3.1.3.6): binds an access token to the ID token that came with it.
enum TokenHash {
    /// The left half of the hash that the ID token's own algorithm uses; for Ed25519 that is SHA-512 (RFC 8032).
    static func leftHalf(of token: Secret, signedWith algorithm: String) -> ExactText {
        let digest: MessageDigest =
            if algorithm.hasSuffix("256") { .sha256 } else if algorithm.hasSuffix("384") { .sha384 } else { .sha512 }
        let hash = digest.of(token)
        return ExactText(Base64URL.encode(hash.prefix(hash.count / 2)))
    }
}

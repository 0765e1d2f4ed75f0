import BrokerModel
import Crypto

/// `at_hash` (OpenID Connect Core, section 3.1.3.6): binds an access token to the ID token that came with it.
enum TokenHash {
    /// The left half of the hash that the ID token's own algorithm uses; for Ed25519 that is SHA-512 (RFC 8032).
    static func leftHalf(of token: Secret, signedWith algorithm: String) -> String {
        token.withBytes { bytes in
            if algorithm.hasSuffix("256") { return half(SHA256.hash(data: bytes)) }
            if algorithm.hasSuffix("384") { return half(SHA384.hash(data: bytes)) }
            return half(SHA512.hash(data: bytes))
        }
    }

    private static func half<Hash: Digest>(_ hash: Hash) -> String {
        Base64URL.encode(hash.prefix(Hash.byteCount / 2))
    }
}

import CSodium

/// Proof key for one authorization code (RFC 7636): 32 random bytes as the verifier, S256 always.
package struct PKCE: Sendable {
    package let verifier: Secret
    /// `code_challenge`: BASE64URL(SHA256(verifier)), section 4.2.
    package let challenge: String

    package init(random: any RandomSource) {
        self.init(verifier: Base64URL.encode(random.bytes(32)))
    }

    package init(verifier: String) {
        let secret = Secret(verifier)
        self.verifier = secret
        var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        secret.withBytes { bytes in
            guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
            _ = crypto_hash_sha256(&digest, start, UInt64(bytes.count))
        }
        challenge = Base64URL.encode(digest)
    }
}

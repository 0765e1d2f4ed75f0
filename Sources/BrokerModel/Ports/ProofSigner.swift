import BrokerValues

/// A key pair for sender-constrained tokens (RFC 9449). The private half never leaves the broker.
package struct ProofKey: Sendable {
    /// P-256, 32 bytes, big-endian.
    package var privateKey: Secret
    /// RFC 7638, of the public key: `jkt`.
    package var thumbprint: String

    package init(privateKey: Secret, thumbprint: String) {
        self.privateKey = privateKey
        self.thumbprint = thumbprint
    }
}

/// The request that one proof is for (RFC 9449, section 4.2).
package struct ProofTarget: Sendable, Equatable {
    /// As in the request line.
    package var method: String
    /// Query and fragment are left out of the proof.
    package var url: String

    package init(method: String, url: String) {
        self.method = method
        self.url = url
    }
}

/// Makes keys and proofs (RFC 9449).
package protocol ProofSigner: Sendable {
    /// - Returns: nil if there is no memory for one.
    func makeKey() -> ProofKey?
    /// - Parameter privateKey: as in ``ProofKey/privateKey``.
    /// - Returns: nil if these bytes are not a key.
    func key(privateKey: Secret) -> ProofKey?
    /// - Parameters:
    ///   - accessToken: the token that the proof accompanies (`ath`); nil at the token endpoint.
    ///   - nonce: the server's, if it gave one.
    ///   - now: `iat`.
    /// - Returns: the value of the `DPoP` header; nil if the key's bytes are not a key, or the URL is invalid.
    func proof(
        with key: ProofKey, for target: ProofTarget, accessToken: Secret?, nonce: String?, now: NumericDate
    ) -> String?
}

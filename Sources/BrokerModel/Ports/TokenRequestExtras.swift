import BrokerValues

/// Optional parameters of any grant.
package struct TokenRequestExtras: Sendable {
    /// A claims request (OpenID Connect Core, section 5.5) or challenge.
    package var claims: String?
    /// The resources of the token (RFC 8707, section 2).
    package var resources: [String] = []
    /// The key for binding the token (RFC 9449); `nil` asks for a bearer token.
    package var proofKey: ProofKey?
    /// Entra: asks for `client_info`, which names the account's home.
    package var asksClientInfo = false
    /// Entra: lets the provider's administrators find the request.
    package var correlationID: String?
    /// Entra: the account's home, which routes the request to the right data centre.
    package var home: HomeAccountID?
    /// From the app; none is the broker's own.
    package var parameters: [String: String] = [:]

    package init() {}
}

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

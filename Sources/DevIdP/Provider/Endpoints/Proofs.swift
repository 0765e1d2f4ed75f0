import Hummingbird

extension HTTPFields.Element.Name {
    // Only an invalid token (RFC 9110, section 5.1) would need the fallback.
    static let dpop = Self("DPoP") ?? .authorization
    static let dpopNonce = Self("DPoP-Nonce") ?? .authorization
}

/// Proof of possession at the token endpoint and at the protected resource (RFC 9449).
extension Provider {
    /// - Returns: the thumbprint of the key of the request's proof; `nil` without a proof.
    func provenKey(_ request: Request, accessToken: String? = nil) throws(OAuthFailure) -> String? {
        let headers = request.headers[values: .dpop]
        guard let text = headers.first else { return nil }
        guard headers.count == 1 else { throw OAuthFailure(.invalidProof, "more than one proof") }
        let proof = try PossessionProof(text)
        let place = (request.head.authority ?? "") + request.uri.path
        let time = options.now()
        try proof.check(method: request.method.rawValue, place: place, time: time, accessToken: accessToken)
        let verdict = state.withLock { $0.proofs.admit(proof, time: time, wantsNonce: $0.policy.requiresProofNonce) }
        if let verdict { throw verdict }
        return proof.thumbprint
    }

    /// The nonce for the next proof, if one is required (section 8.2).
    func proofHeaders() -> HTTPFields {
        let time = options.now()
        let nonce = state.withLock { $0.policy.requiresProofNonce ? $0.proofs.nonce(time: time) : nil }
        return nonce.map { [.dpopNonce: $0] } ?? [:]
    }
}

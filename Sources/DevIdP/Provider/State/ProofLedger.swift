/// The proofs that were received, and the nonces that were issued.
struct ProofLedger: Sendable {
    /// Expiry by `jti`.
    private var seen: [String: Int] = [:]
    private var current: (nonce: String, since: Int)?
    private var previous: String?

    /// Seconds after which a new nonce is made; the previous one stays valid until the next change.
    static let nonceLifetime = 60

    /// - Returns: why the proof is refused; `nil` if it is valid, which uses it up.
    mutating func admit(_ proof: PossessionProof, time: Int, wantsNonce: Bool) -> OAuthFailure? {
        if wantsNonce {
            let good = [nonce(time: time), previous].compactMap { $0 }
            guard let shown = proof.nonce, good.contains(shown) else {
                return OAuthFailure(.useProofNonce, "the proof must carry the nonce of the DPoP-Nonce header")
            }
        }
        seen = seen.filter { $0.value >= time }
        guard seen[proof.identifier] == nil else { return OAuthFailure(.invalidProof, "the proof was used before") }
        seen[proof.identifier] = time + 2 * PossessionProof.tolerance
        return nil
    }

    mutating func nonce(time: Int) -> String {
        if let current, time - current.since < Self.nonceLifetime { return current.nonce }
        previous = current?.nonce
        let fresh = randomText()
        current = (fresh, time)
        return fresh
    }
}

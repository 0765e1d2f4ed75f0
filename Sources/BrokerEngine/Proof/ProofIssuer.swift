import BrokerModel
import BrokerTokenCache
import BrokerValues

/// A request of `token.proof`, after the access check.
package struct ProofRequest: Sendable {
    package var partition: Partition
    package var app: AppRegistration
    package var account: AccountReference?
    /// Another authority than the app's own, for this request.
    package var authority: Authority?
    package var target: ProofTarget
    /// The API's nonce, if it sent one.
    package var nonce: String?
    /// The token that the proof is sent with; `nil` means the newest that is still valid.
    package var accessToken: Secret?

    package init(partition: Partition, app: AppRegistration, target: ProofTarget) {
        self.partition = partition
        self.app = app
        self.target = target
    }
}

/// Makes DPoP proofs for an app's own calls (RFC 9449, section 4). Only a signature leaves the broker.
struct ProofIssuer: Sendable {
    let cache: TokenCache
    let keys: ProofKeys
    let proofs: any ProofSigner
    let clock: any BrokerClock

    func prove(_ request: ProofRequest) throws(BrokerError) -> IssuedProof {
        try TenantRules.check(request.authority, for: request.app)
        let authority = request.authority ?? request.app.authority
        let known = try cache.accounts(of: request.app, in: request.partition)
        let entry = try AccountChoice.choose(request.account, from: known, for: request.app, at: authority)
            .resolved(for: request.app)
        let tokens = try cache.tokens(of: .init(of: entry.stored.record, for: request.app, in: request.partition))
        guard let key = try keys.filedKey(in: tokens) else {
            throw BrokerError(
                .interactionRequired, "\(request.app.name) has no DPoP token of this account yet; ask for one first.",
                reason: .noTokens)
        }
        let token = if let given = request.accessToken { given } else { try newestToken(in: tokens) }
        guard
            let proof = proofs.proof(
                with: key, for: request.target, accessToken: token, nonce: request.nonce, now: clock.now)
        else {
            throw BrokerError(.invalidParameter, "The URL of the call is not an http or https URL; give it in full.")
        }
        return IssuedProof(proof: proof, keyThumbprint: key.thumbprint)
    }

    private func newestToken(in tokens: CachedTokens) throws(BrokerError) -> Secret {
        let rule = ExpiryRule(now: clock.now, buffer: 1)
        let usable = tokens.accessTokens.map(\.stored).filter { tokens.isBound($0.record) && rule.isUsable($0.record) }
        guard let newest = usable.max(by: { $0.record.cachedAt < $1.record.cachedAt }) else {
            throw BrokerError(
                .interactionRequired,
                "The DPoP tokens of this account have expired; ask for a token silently, then for the proof.",
                reason: .noTokens)
        }
        return try cache.secret(of: newest.sealed)
    }
}

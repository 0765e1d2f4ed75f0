import BrokerModel
import BrokerValues

/// `token.proof`, after the access check.
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

/// Makes proofs for the app's own calls. Only a signature leaves the broker.
struct ProofIssuer: Sendable {
    let services: EngineServices

    func prove(_ request: ProofRequest) throws(BrokerError) -> IssuedProof {
        try TenantRules.check(request.authority, for: request.app)
        let authority = request.authority ?? request.app.authority
        let known = try services.knownAccounts(of: request.app, in: request.partition)
        let entry = try AccountChoice.choose(request.account, from: known, for: request.app, at: authority)
            .resolved(for: request.app)
        let tokens = try services.tokens(of: .init(of: entry.stored.record, for: request.app, in: request.partition))
        guard let key = try ProofKeys(services: services).filedKey(in: tokens) else {
            throw BrokerError(
                .interactionRequired, "\(request.app.name) has no DPoP token of this account yet; ask for one first.",
                reason: .noTokens)
        }
        let token = if let given = request.accessToken { given } else { try newestToken(in: tokens) }
        guard
            let proof = services.proofs.proof(
                with: key, for: request.target, accessToken: token, nonce: request.nonce, now: services.clock.now)
        else {
            throw BrokerError(.invalidParameter, "The URL of the call is not an http or https URL; give it in full.")
        }
        return IssuedProof(proof: proof, keyThumbprint: key.thumbprint)
    }

    private func newestToken(in tokens: CachedTokens) throws(BrokerError) -> Secret {
        let rule = ExpiryRule(now: services.clock.now, buffer: 1)
        let usable = tokens.accessTokens.map(\.stored).filter { tokens.isBound($0.record) && rule.isUsable($0.record) }
        guard let newest = usable.max(by: { $0.record.cachedAt < $1.record.cachedAt }) else {
            throw BrokerError(
                .interactionRequired,
                "The DPoP tokens of this account have expired; ask for a token silently, then for the proof.",
                reason: .noTokens)
        }
        return try services.reading { () throws(VaultError) in try services.vault.secret(of: newest.sealed) }
    }
}

extension TokenBroker {
    /// - Throws: `interactionRequired` if there is no DPoP token to make a proof for.
    package func proof(_ request: ProofRequest) throws(BrokerError) -> IssuedProof {
        try ProofIssuer(services: services).prove(request)
    }
}

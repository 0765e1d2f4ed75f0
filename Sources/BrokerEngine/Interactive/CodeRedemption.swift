import BrokerModel
import BrokerValues

/// Redeems the code that a browser brought, and keeps the tokens.
struct CodeRedemption: Sendable {
    let provider: any IdentityProvider
    let clients: ClientKnowledge
    let store: TokenResponseStore

    func redeem(
        _ code: RedirectCheck.AuthorizationCode, of attempt: AuthorizationAttempt, for plan: SignInPlan,
        amid erasures: ErasureMark
    ) async throws(BrokerError) -> AcquiredToken {
        let request = plan.request
        let place = code.cloud ?? plan.authority
        let metadata = try await metadata(for: code, of: attempt)
        var extras = request.extras
        extras.proofKey = attempt.proofKey
        // Before the code is redeemed: nothing may fail between that and keeping or revoking the tokens.
        let known = try clients.refreshTokenTakesConsent(plan.client)
        let response: TokenResponse
        do throws(ProviderError) {
            response = try await provider.redeem(
                .authorizationCode(
                    code.code, verifier: attempt.verifier, redirectURI: attempt.authorization.redirectURI),
                with: extras, as: request.app.credentials(at: place), at: metadata)
        } catch {
            if case .unusableTokens(let rest) = error {
                store.discard(DiscardedTokens(rest), for: TokenRecipient(request), at: metadata)
            }
            throw ProviderErrors.brokerError(error, at: place)
        }
        let authorization = attempt.authorization
        let takesConsent = OfflineConsent.learned(
            from: response, to: authorization.scopes, isAsked: authorization.asksConsent, prompt: plan.prompt,
            known: known, at: metadata)
        if let takesConsent {
            await clients.note(of: plan.client, amid: erasures) { $0.refreshTokenTakesConsent = takesConsent }
        }
        return try await store.keepSignedIn(
            response, for: TokenRecipient(request), asked: request.scopes, sent: attempt.sent,
            nonce: attempt.authorization.nonce,
            requirements: plan.requirements, amid: erasures, at: place, metadata: metadata, proofKey: attempt.proofKey)
    }

    /// The metadata of the code's receiver: asked of a host that was looked up among the known clouds, never of one that only the
    /// redirect names.
    private func metadata(
        for code: RedirectCheck.AuthorizationCode, of attempt: AuthorizationAttempt
    ) async throws(BrokerError) -> ProviderMetadata {
        guard let cloud = code.cloud else { return attempt.metadata }
        let metadata = try await provider.metadata(for: cloud)
        try CloudRules.check(metadata, issuer: code.issuer)
        return metadata
    }
}

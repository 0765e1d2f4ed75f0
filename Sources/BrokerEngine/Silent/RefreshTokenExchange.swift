import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Sends one refresh token to its provider, and keeps what it brings.
final class RefreshTokenExchange: Sendable {
    typealias RefreshToken = StoredRecord<RefreshTokenRecord>

    enum Attempt {
        case done(AcquiredToken)
        /// Another token may do better than this one.
        case useless(RefreshToken, BrokerError, Failure)
    }

    /// The consequence for a token that was of no use.
    enum Failure {
        case isDead
        /// The account no longer exists at the provider.
        case accountIsGone
        /// The token is for clients of its family, to which this client does not belong.
        case notInFamily
    }

    private let cache: TokenCache
    private let provider: any IdentityProvider
    private let proofKeys: ProofKeys
    private let intents: RefreshIntents
    private let updates: RefreshTokenUpdates
    private let store: TokenResponseStore
    private let clock: any BrokerClock
    private let locks = RefreshTokenLocks()

    init(
        cache: TokenCache, provider: any IdentityProvider, proofKeys: ProofKeys, updates: RefreshTokenUpdates,
        store: TokenResponseStore, clock: any BrokerClock
    ) {
        (self.cache, self.provider, self.proofKeys) = (cache, provider, proofKeys)
        (self.updates, self.store, self.clock) = (updates, store, clock)
        intents = RefreshIntents(cache: cache, clock: clock)
    }

    func secret(of token: RefreshToken) throws(BrokerError) -> Secret { try cache.secret(of: token.sealed) }

    /// Redeems a token, after waiting until no other flight uses it.
    func spend(_ token: RefreshToken, _ secret: Secret, in lookup: LookupResult) async throws(BrokerError) -> Attempt {
        let environment = token.record.owner.environment
        return try await locks.holding(secret, at: environment) { () async throws(BrokerError) in
            // An earlier holder of the lock may have received another token.
            let owner = OwnerKey(partition: lookup.request.partition, owner: token.record.owner)
            guard try cache.tokens(of: owner).holds(token) else { throw RefreshPrecondition.replaced }
            return try await redeem(token, secret, in: lookup)
        }
    }

    private func redeem(
        _ refreshToken: RefreshToken, _ secret: Secret, in lookup: LookupResult
    ) async throws(BrokerError) -> Attempt {
        let request = lookup.request
        let metadata = try await provider.metadata(for: lookup.destination)
        try CloudRules.check(metadata, for: request.app)
        let extras = try extras(spending: refreshToken.record, in: lookup, at: metadata)
        let asked = Self.scopes(of: request, spending: refreshToken.record)
        // Before it is sent: after a power cut the vault then shows which token was in flight (decision 18).
        guard let sent = await intents.mark(refreshToken, in: request.partition) else {
            // The person signed out or in while the metadata was fetched; another look at the cache says which.
            throw RefreshPrecondition.replaced
        }
        let response: TokenResponse
        do throws(ProviderError) {
            response = try await provider.redeem(
                .refreshToken(secret, scopes: asked), with: extras,
                as: request.app.credentials(at: lookup.destination), at: metadata)
        } catch {
            if case .unusableTokens(let rest) = error {
                await store.keepRefreshTokenOnly(
                    rest, for: TokenRecipient(request), sent: asked, replacing: sent, proofKey: extras.proofKey,
                    at: metadata)
            }
            return try await classify(error, of: sent, before: refreshToken, asked: asked, in: lookup)
        }
        let isReusable = response.refreshToken.map { $0 == secret } ?? true
        let spent = await answered(
            sent, before: refreshToken, isReplaced: response.refreshToken != nil, isReusable: isReusable)
        return .done(
            try await store.keepRefreshed(
                response, for: TokenRecipient(request), asked: request.scopes, sent: asked, replacing: spent,
                of: lookup.entry, at: lookup.destination, realm: lookup.question.realm, metadata: metadata,
                contexts: ClaimsRule.essentialContexts(in: request.claims), proofKey: extras.proofKey))
    }

    private func extras(
        spending token: RefreshTokenRecord, in lookup: LookupResult, at metadata: ProviderMetadata
    ) throws(BrokerError) -> TokenRequestExtras {
        var extras = lookup.request.extras
        extras.parameters = lookup.request.extraParameters
        extras.home = lookup.entry.stored.record.homeAccountID
        extras.proofKey = try proofKeys.key(
            for: lookup.request.tokenType, spending: token, of: lookup.tokens, at: metadata)
        return extras
    }

    /// The scopes to ask for.
    private static func scopes(of request: SilentRequest, spending token: RefreshTokenRecord) -> Scopes {
        let scopes = ScopeRules.toRefresh(
            request.scopes, granted: Scopes(token.narrowedTo ?? token.scopes), earlier: Scopes(token.scopes),
            // The grant may be for several resources, where not every scope is known at each.
            keepsWhole: token.grantNarrows == true && request.resources.isEmpty, at: request.target.kind)
        return request.app.description.offlineAccess == false ? scopes.subtracting(ScopeRules.offlineAccess) : scopes
    }

    /// - Parameters:
    ///   - sent: the token's record, marked as in flight.
    ///   - before: the token's record before that.
    /// - Returns: the token for its successor, which may be the same token.
    private func answered(
        _ sent: RefreshToken, before: RefreshToken, isReplaced: Bool, isReusable: Bool
    ) async -> RefreshToken {
        var token = sent
        // It may stay, and is as good as new then: the response does not always replace a family's token.
        if !isReplaced || sent.record.familyID != nil {
            token = await updates.mark(sent, from: before) {
                ($0.unansweredAt, $0.refusedAt) = (nil, nil)
                $0.isReusable = isReusable ? true : nil
            }
        }
        var record = token.record
        record.isReusable = isReusable ? true : nil
        return RefreshToken(record: record, sealed: token.sealed)
    }

    /// - Parameters:
    ///   - sent: the token's record, marked as in flight.
    ///   - before: the token's record before that.
    /// - Throws: if the failure is not about the token.
    private func classify(
        _ error: ProviderError, of sent: RefreshToken, before: RefreshToken, asked: Scopes,
        in lookup: LookupResult
    ) async throws(BrokerError) -> Attempt {
        let request = lookup.request
        let refusal: OAuthRefusal
        switch error {
        case .refused(let reported):
            refusal = reported
        case .refusedWithoutReason(let status, _) where before.record.refusedAt != nil:
            // It was no transient problem of an intermediary: the token is dead.
            refusal = OAuthRefusal(
                error: "invalid_grant", description: "The provider gave no reason.", status: status)
        case .refusedWithoutReason:
            let now = clock.now
            await updates.mark(sent, from: before) { $0.refusedAt = now }
            throw ProviderErrors.brokerError(error, at: lookup.destination)
        default:
            if !error.mayHaveSpentGrant { await updates.mark(sent, from: before) }
            throw ProviderErrors.brokerError(error, at: lookup.destination)
        }
        let now = clock.now
        var circumstances = RefreshRefusal.Circumstances()
        circumstances.refusedScopes = ScopeRefusal(
            asked: request.scopes, sent: asked, spending: before.record, at: request.target.kind)
        circumstances.sentClaims = request.claims != nil
        circumstances.answerWasLost = before.record.unansweredAt != nil || refusal.isOfSecondTry
        circumstances.isAtHome = lookup.isAtHome
        if case .refusedWithoutReason = error { circumstances.isSecondWithoutReason = true }
        circumstances.isReusable = before.record.isReusable == true && !before.record.isRefusedForLong(at: now)
        let meaning = RefreshRefusal(refusal, circumstances, at: lookup.destination)
        if meaning.isClientMismatch, before.record.familyID != nil {
            return .useless(
                await updates.mark(sent, from: before), request.interactionRequired(.noTokens), .notInFamily)
        }
        guard meaning.tokenState == .dead else {
            await updates.mark(sent, from: before) {
                if meaning.showsNarrowing { $0.grantNarrows = true }
                $0.refusedAt = meaning.tokenState == .doubtful ? $0.refusedAt ?? now : nil
            }
            throw meaning.error
        }
        return .useless(sent, meaning.error, meaning.isAccountGone ? .accountIsGone : .isDead)
    }
}

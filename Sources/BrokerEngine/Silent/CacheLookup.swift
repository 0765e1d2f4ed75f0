import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Looks up a silent request in the cache: the account, its tokens, and the decision.
final class CacheLookup: Sendable {
    private let cache: TokenCache
    private let settings: SettingsBox
    private let clock: any BrokerClock

    init(cache: TokenCache, settings: SettingsBox, clock: any BrokerClock) {
        (self.cache, self.settings, self.clock) = (cache, settings, clock)
    }

    /// The source of the records for a lookup.
    enum Source: Sendable {
        /// The index only: the lookup neither waits nor reads the disk.
        case memory
        /// The index, and the vault for missing entries.
        case vault
    }

    /// The only way from a request to its decision. With ``Source/memory`` it is the hot path.
    ///
    /// - Throws: also if the source lacks the needed records; only the vault's errors are meant for callers.
    func look(at request: SilentRequest, in source: Source = .vault) throws(BrokerError) -> LookupResult {
        let target = request.target
        try ScopeRules.check(request.scopes)
        if !request.extraParameters.isEmpty {
            try ExtraParameters.check(request.extraParameters) { AuthorizationRequest.reservedForTokens.contains($0) }
        }
        try TenantRules.check(request.authority, for: request.app, clouds: settings.clouds(of: request))
        let known = try accounts(for: request, in: source)
        let entry = try AccountChoice.choose(
            request.account, from: known, for: request.app, at: target,
            otherClouds: settings.otherClouds(of: request), isAlive: { isAlive($0, request, in: source) }
        ).resolved(for: request.app)
        let owner = OwnerKey(of: entry.stored.record, for: request.app, in: request.partition)
        let (tokens, family) = try tokens(of: owner, in: source)
        let question = CacheQuestion(
            scopes: request.scopes, realm: TenantRules.realm(at: target, for: entry, among: known),
            tokenType: request.tokenType, resources: request.resources, lifetimeOf: request.query.lifetimeOf,
            rule: ExpiryRule(
                now: clock.now, buffer: settings.read { $0.expiryBuffer },
                minimumLifetime: request.minimumLifetime),
            bypassesCache: request.forceRefresh || request.query.claims != nil, ceiling: request.ceiling)
        let narrow =
            request.isNarrow
            ? SilentDecision.decide(narrow: question, from: tokens, family: family, at: target.kind) : nil
        return LookupResult(
            request: request, entry: entry, owner: owner, tokens: tokens, family: family, question: question,
            decision: narrow ?? SilentDecision.decide(question, from: tokens, family: family))
    }

    /// - Parameter token: from the lookup's tokens.
    func answer(_ token: StoredRecord<AccessTokenRecord>, from lookup: LookupResult) -> AcquiredToken {
        var answer = AcquiredToken(
            token: token, idToken: lookup.tokens.idTokens[token.record.realm], person: lookup.entry, fromCache: true,
            persisted: cache.writer.hasWritten(token.sealed))
        guard lookup.question.lifetimeOf == .idToken else { return answer }
        answer.idTokenEnd = lookup.tokens.idTokenLifetimes[token.record.realm]?.expiresOn
        answer.lifetimeOf = .idToken
        return answer
    }

    /// Whether a sign-in can still bring tokens; true if that is unknown.
    private func isAlive(_ entry: KnownAccount, _ request: SilentRequest, in source: Source) -> Bool {
        let owner = OwnerKey(of: entry.stored.record, for: request.app, in: request.partition)
        guard let (tokens, family) = try? tokens(of: owner, in: source) else { return true }
        return tokens.isAlive(at: clock.now) || !family.spendable.isEmpty
    }

    private func accounts(for request: SilentRequest, in source: Source) throws(BrokerError) -> KnownAccounts {
        guard source == .memory else { return try cache.accounts(of: request.app, in: request.partition) }
        let group = GroupKey(of: request.app, in: request.partition)
        guard let known = cache.index.accounts(of: group), known.isQuick(request.account) else {
            throw Self.notInMemory
        }
        return known
    }

    private func tokens(
        of owner: OwnerKey, in source: Source
    ) throws(BrokerError) -> (CachedTokens, FamilyKnowledge) {
        guard source == .memory else { return (try cache.tokens(of: owner), try cache.family(of: owner)) }
        guard let tokens = cache.index.tokens(of: owner) else { throw Self.notInMemory }
        return (tokens, FamilyKnowledge())
    }

    /// Ends a lookup in memory that found too little or would take too long; never reaches a client. A shared value, so that the
    /// hot path makes none.
    private static let notInMemory = BrokerError(.internal, "It is not in memory yet.")
}

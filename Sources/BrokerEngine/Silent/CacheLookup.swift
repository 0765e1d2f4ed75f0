import BrokerModel
import BrokerValues

/// A silent request against the cache: who it is for, and what is done about it. With ``Source/memory`` it is the hot path.
package struct CacheLookup: Sendable {
    let services: EngineServices

    /// Where a request is looked up.
    enum Source: Sendable {
        /// What the index holds: without waiting and without the disk.
        case memory
        /// The index, and the vault for what is not there yet.
        case vault
    }

    /// A request seen against the cache: who it is for, and what was decided.
    struct LookupResult: Sendable {
        var entry: KnownAccounts.Entry
        var owner: CacheIndex.OwnerKey
        var tokens: CachedTokens
        /// Nothing where only memory was asked: families are for refreshes.
        var family: FamilyKnowledge
        var question: SilentDecision.Question
        var decision: SilentDecision
        /// The request's authority.
        var target: Authority

        /// Where a refresh goes: the request's authority, or the account's home tenant, in the account's cloud.
        var destination: Authority { TenantRules.destination(of: target, for: entry) }

        /// Whether that is the account's own authority: its home tenant, where there are tenants.
        var isAtHome: Bool {
            guard let home = entry.homeTenant, destination.hasTenants else { return true }
            return question.realm == home
        }

        /// Refreshes that may spend the same token take turns: where there are family tokens, all clients of the account.
        var refreshKey: CacheIndex.OwnerKey { family.spendable.isEmpty ? owner : owner.ofFamilies }

        /// The refresh tokens that may be spent, in the order of trying.
        var spendable: [StoredRecord<RefreshTokenRecord>] { tokens.spendable(for: question.tokenType, family) }

        func answer(_ token: StoredRecord<AccessTokenRecord>, _ services: EngineServices) -> AcquiredToken {
            var answer = AcquiredToken(
                token: token, idToken: tokens.idTokens[token.record.realm], person: entry, fromCache: true,
                persisted: services.writer.hasWritten(token.sealed))
            guard question.lifetimeOf == .idToken else { return answer }
            answer.idTokenEnd = tokens.idTokenLifetimes[token.record.realm]?.expiresOn
            answer.lifetimeOf = .idToken
            return answer
        }
    }

    /// Without waiting and without the disk; nil when that is not enough, or when the answer would be an error.
    package func cached(_ request: SilentRequest) -> AcquiredToken? {
        guard request.rejectedToken == nil, request.stepUp == nil, let lookup = try? look(at: request, in: .memory),
            case .cached(let token) = lookup.decision
        else { return nil }
        renewIfDue(token, for: request, owner: lookup.owner)
        return lookup.answer(token, services)
    }

    /// Starts a renewal when one is due; never waits, never fails.
    func renewIfDue(
        _ token: StoredRecord<AccessTokenRecord>, for request: SilentRequest, owner: CacheIndex.OwnerKey
    ) {
        let rule = RefreshAheadRule(now: services.clock.now, share: services.settings.read { $0.refreshShare })
        guard rule.isDue(token.record) else { return }
        SilentAcquisition(services: services).renewAhead(token, for: request, owner: owner)
    }

    /// The one way from a request to what is done about it. With ``Source/memory`` it is the hot path.
    ///
    /// - Throws: also when the source does not have what is asked for; what that is, only the vault's errors say.
    func look(at request: SilentRequest, in source: Source = .vault) throws(BrokerError) -> LookupResult {
        let target = request.target
        try ScopeRules.check(request.scopes)
        if !request.extraParameters.isEmpty {
            try ExtraParameters.check(request.extraParameters) { AuthorizationRequest.reservedForTokens.contains($0) }
        }
        try TenantRules.check(request.authority, for: request.app, clouds: services.clouds(of: request))
        let known = try accounts(for: request, in: source)
        let entry = try AccountChoice.choose(
            request.account, from: known, for: request.app, at: target,
            otherClouds: services.otherClouds(of: request), isAlive: { isAlive($0, request, in: source) }
        ).resolved(for: request.app)
        let owner = CacheIndex.OwnerKey(of: entry.stored.record, for: request.app, in: request.partition)
        let (tokens, family) = try tokens(of: owner, in: source)
        let question = SilentDecision.Question(
            scopes: request.scopes, realm: TenantRules.realm(at: target, for: entry, among: known),
            tokenType: request.tokenType, resources: request.resources, lifetimeOf: request.query.lifetimeOf,
            rule: ExpiryRule(
                now: services.clock.now, buffer: services.settings.read { $0.expiryBuffer },
                minimumLifetime: request.minimumLifetime),
            bypassesCache: request.forceRefresh || request.query.claims != nil, ceiling: request.ceiling)
        return LookupResult(
            entry: entry, owner: owner, tokens: tokens, family: family, question: question,
            decision: SilentDecision.decide(question, from: tokens, family: family), target: target)
    }

    /// Whether anything is left of a sign-in; yes where that is not known.
    private func isAlive(_ entry: KnownAccounts.Entry, _ request: SilentRequest, in source: Source) -> Bool {
        let owner = CacheIndex.OwnerKey(of: entry.stored.record, for: request.app, in: request.partition)
        guard let (tokens, family) = try? tokens(of: owner, in: source) else { return true }
        return tokens.isAlive(at: services.clock.now) || !family.spendable.isEmpty
    }

    private func accounts(for request: SilentRequest, in source: Source) throws(BrokerError) -> KnownAccounts {
        guard source == .memory else { return try services.knownAccounts(of: request.app, in: request.partition) }
        let group = CacheIndex.GroupKey(partition: request.partition, group: request.app.effectiveGroup)
        guard let known = services.index.accounts(of: group), known.isQuick(request.account) else {
            throw Self.notInMemory
        }
        return known
    }

    private func tokens(
        of owner: CacheIndex.OwnerKey, in source: Source
    ) throws(BrokerError) -> (CachedTokens, FamilyKnowledge) {
        guard source == .memory else { return (try services.tokens(of: owner), try services.family(of: owner)) }
        guard let tokens = services.index.tokens(of: owner) else { throw Self.notInMemory }
        return (tokens, FamilyKnowledge())
    }

    /// Ends a look at memory, or at too much of it; it reaches nobody. One value, so that the hot path makes none.
    private static let notInMemory = BrokerError(.internal, "It is not in memory yet.")
}

/// The order of a silent request (MSAL, "Silent"): the cached access token, then the refresh tokens, then the person.
package enum SilentDecision: Sendable {
    case cached(StoredRecord<AccessTokenRecord>)
    /// The app's own refresh token first, then a family's: the next is spent when one turns out to be dead.
    case refresh([StoredRecord<RefreshTokenRecord>])
    case interact(ErrorReason)

    package struct Question: Sendable {
        package var scopes: Scopes
        package var realm: String
        package var tokenType: TokenType
        /// Sorted.
        package var resources: [String]
        /// Which token ``rule`` is about.
        package var lifetimeOf: MeasuredToken
        package var rule: ExpiryRule
        /// `forceRefresh`, or a claims request: the cached access token does not answer it.
        package var bypassesCache: Bool
        /// A token that is good for more is no answer.
        package var ceiling: Scopes?

        package init(
            scopes: Scopes, realm: String, tokenType: TokenType = .bearer, resources: [String] = [],
            lifetimeOf: MeasuredToken = .accessToken, rule: ExpiryRule, bypassesCache: Bool = false,
            ceiling: Scopes? = nil
        ) {
            self.scopes = scopes
            self.realm = realm
            self.tokenType = tokenType
            self.resources = ScopeRules.sorted(resources: resources)
            self.lifetimeOf = lifetimeOf
            self.rule = rule
            self.bypassesCache = bypassesCache
            self.ceiling = ceiling
        }
    }

    package static func decide(
        _ question: Question, from tokens: CachedTokens, family: FamilyKnowledge = FamilyKnowledge()
    ) -> SilentDecision {
        if !question.bypassesCache {
            let idToken = question.measuredIDToken(of: tokens)
            let token = tokens.accessToken(for: question) { question.isUsable($0, beside: idToken) }
            if let token { return question.isOver(idToken) ? .interact(.idTokenExpired) : .cached(token) }
        }
        let spendable = tokens.spendable(for: question.tokenType, family)
        return spendable.isEmpty ? .interact(.noTokens) : .refresh(spendable)
    }
}

extension SilentDecision.Question {
    /// Nil where the access token is measured, or the ID token's end is not known.
    func measuredIDToken(of tokens: CachedTokens) -> TokenLifetime? {
        lifetimeOf == .idToken ? tokens.idTokenLifetimes[realm] : nil
    }

    /// Whether a cached access token answers it as far as time goes, and what came along.
    func isUsable(_ token: AccessTokenRecord, beside idToken: TokenLifetime?) -> Bool {
        guard lifetimeOf == .idToken, let idToken else { return rule.isUsable(token) }
        // The refresh that brought the access token brought no other ID token; the next would not either.
        return rule.withoutMinimum.isUsable(token) && (rule.isUsable(idToken) || idToken.cachedAt < token.cachedAt)
    }

    /// As above, while the provider cannot be reached.
    func isUsableInBuffer(_ token: AccessTokenRecord, beside idToken: TokenLifetime?) -> Bool {
        guard lifetimeOf == .idToken, let idToken else { return rule.isUsableInBuffer(token) }
        return rule.withoutMinimum.isUsableInBuffer(token) && rule.isUsableInBuffer(idToken)
    }

    /// Whether the ID token is asked for and has ended.
    func isOver(_ idToken: TokenLifetime?) -> Bool {
        lifetimeOf == .idToken && idToken.map { !rule.isAlive($0) } ?? false
    }
}

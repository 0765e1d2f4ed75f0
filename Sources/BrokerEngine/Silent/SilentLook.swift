import BrokerModel
import BrokerValues

/// A silent request against the cache: who it is for, and what is done about it. With ``Source/memory`` it is the hot path.
package struct SilentLook: Sendable {
    let services: EngineServices

    /// Where a request is looked up.
    enum Source: Sendable {
        /// What the index holds: without waiting and without the disk.
        case memory
        /// The index, and the vault for what is not there yet.
        case vault
    }

    /// A request seen against the cache: who it is for, and what was decided.
    struct Situation: Sendable {
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
            AcquiredToken(
                token: token, idToken: tokens.idTokens[token.record.realm], person: entry, fromCache: true,
                persisted: services.writer.hasWritten(token.sealed))
        }
    }

    /// Without waiting and without the disk; nil when that is not enough, or when the answer would be an error.
    package func cached(_ request: SilentRequest) -> AcquiredToken? {
        guard request.rejectedToken == nil, let situation = try? look(at: request, in: .memory),
            case .cached(let token) = situation.decision
        else { return nil }
        renewIfDue(token, for: request, owner: situation.owner)
        return situation.answer(token, services)
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
    func look(at request: SilentRequest, in source: Source = .vault) throws(BrokerError) -> Situation {
        let target = request.target
        try ScopeRules.check(request.scopes)
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
            tokenType: request.tokenType, resources: request.resources,
            rule: ExpiryRule(
                now: services.clock.now, buffer: services.settings.read { $0.expiryBuffer },
                minimumLifetime: request.minimumLifetime),
            bypassesCache: request.forceRefresh || request.query.claims != nil, ceiling: request.ceiling)
        return Situation(
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
        package var rule: ExpiryRule
        /// `forceRefresh`, or a claims request: the cached access token does not answer it.
        package var bypassesCache: Bool
        /// A token that is good for more is no answer.
        package var ceiling: Scopes?

        package init(
            scopes: Scopes, realm: String, tokenType: TokenType = .bearer, resources: [String] = [], rule: ExpiryRule,
            bypassesCache: Bool = false, ceiling: Scopes? = nil
        ) {
            self.scopes = scopes
            self.realm = realm
            self.tokenType = tokenType
            self.resources = ScopeRules.sorted(resources: resources)
            self.rule = rule
            self.bypassesCache = bypassesCache
            self.ceiling = ceiling
        }
    }

    package static func decide(
        _ question: Question, from tokens: CachedTokens, family: FamilyKnowledge = FamilyKnowledge()
    ) -> SilentDecision {
        if !question.bypassesCache, let token = tokens.accessToken(for: question, question.rule.isUsable) {
            return .cached(token)
        }
        let spendable = tokens.spendable(for: question.tokenType, family)
        return spendable.isEmpty ? .interact(.noTokens) : .refresh(spendable)
    }
}

// MARK: - Lifetimes

/// When a cached access token may still be handed out (MSAL, "Cache lookup").
package struct ExpiryRule: Sendable {
    package var now: NumericDate
    /// Seconds before its end at which a token counts as expired, but at most a fifth of its own lifetime: a token that
    /// lives for five minutes would otherwise never be handed out again.
    package var buffer: Int64
    /// What the caller asked for takes the place of the buffer.
    package var minimumLifetime: Int64?

    package init(now: NumericDate, buffer: Int64, minimumLifetime: Int64? = nil) {
        self.now = now
        self.buffer = buffer
        self.minimumLifetime = minimumLifetime
    }

    package func isUsable(_ token: AccessTokenRecord) -> Bool {
        isGood(token, for: minimumLifetime ?? buffer(of: token))
    }

    /// For the time that the provider cannot be reached: a token that counts as expired, and is not.
    package func isUsableInBuffer(_ token: AccessTokenRecord) -> Bool { isGood(token, for: minimumLifetime ?? 0) }

    private func isGood(_ token: AccessTokenRecord, for least: Int64) -> Bool {
        // A token from the future says that the clock went back: nothing can be told about its age.
        guard token.cachedAt <= now else { return false }
        let (left, overflow) = token.expiresOn.subtractingReportingOverflow(now)
        // Seconds are whole: with none left the token has ended, up to a second ago.
        return !overflow && left > 0 && left >= least
    }

    private func buffer(of token: AccessTokenRecord) -> Int64 {
        let (lifetime, overflow) = token.expiresOn.subtractingReportingOverflow(token.cachedAt)
        return overflow ? buffer : min(buffer, lifetime / 5)
    }

    /// `ext_expires_in` says how long a resource goes on taking a token while the provider cannot give a new one.
    package func isUsableWhileProviderIsDown(_ token: AccessTokenRecord) -> Bool {
        guard token.cachedAt <= now, let extended = token.extendedExpiresOn else { return false }
        let (left, overflow) = extended.subtractingReportingOverflow(now)
        return !overflow && left > 0 && left >= minimumLifetime ?? 0
    }
}

/// When a cached access token, though still good, is renewed in the background (MSAL, "Proactive refresh").
package struct RefreshAheadRule: Sendable {
    package var now: NumericDate
    /// Percent of the lifetime after which a token is renewed whose provider does not say when; 0 never does.
    package var share: Int

    package init(now: NumericDate, share: Int) {
        self.now = now
        self.share = share
    }

    package func isDue(_ token: AccessTokenRecord) -> Bool {
        if let refreshOn = token.refreshOn { return now >= refreshOn }
        guard share > 0 else { return false }
        let (lifetime, overflow) = token.expiresOn.subtractingReportingOverflow(token.cachedAt)
        guard !overflow, lifetime > 0 else { return false }
        return now >= token.cachedAt + lifetime / 100 * Int64(share) + lifetime % 100 * Int64(share) / 100
    }
}

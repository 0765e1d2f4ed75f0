import BrokerModel
import BrokerValues
import Logging

/// `token.acquireSilent`: never asks the person anything.
struct SilentAcquisition: Sendable {
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

        /// Refreshes that may spend the same token take turns: where there are family tokens, all clients of the account.
        var refreshKey: CacheIndex.OwnerKey { family.spendable.isEmpty ? owner : owner.ofFamilies }

        /// The refresh tokens that may be spent, in the order of trying.
        var spendable: [StoredRecord<RefreshTokenRecord>] { tokens.spendable(for: question.tokenType, family) }

        func answer(_ token: StoredRecord<AccessTokenRecord>, _ services: EngineServices) -> AcquiredToken {
            AcquiredToken(
                token: token, idToken: tokens.idTokens[token.record.realm], account: entry.account, fromCache: true,
                persisted: services.writer.hasWritten(token.sealed))
        }
    }

    /// Without waiting and without the disk; nil when that is not enough, or when the answer would be an error.
    func cached(_ request: SilentRequest) -> AcquiredToken? {
        guard request.rejectedToken == nil, let situation = try? look(at: request, in: .memory),
            case .cached(let token) = situation.decision
        else { return nil }
        renewIfDue(token, for: request, owner: situation.owner)
        return situation.answer(token, services)
    }

    func acquire(_ request: SilentRequest) async throws(BrokerError) -> AcquiredToken {
        guard let rejected = request.rejectedToken else { return try await acquire(request, replaces: nil) }
        return try await another(than: rejected, for: request)
    }

    /// - Parameters:
    ///   - replaces: the cached access token that is no answer although it is still good.
    ///   - insists: whether it is replaced by another refresh where the one that had to be waited for did not do it.
    func acquire(
        _ request: SilentRequest, replaces: [UInt8]?, insists: Bool = true
    ) async throws(BrokerError) -> AcquiredToken {
        var replaces = replaces
        while true {
            let situation = try look(at: request)
            switch situation.decision {
            case .cached(let token) where token.sealed.box != replaces:
                renewIfDue(token, for: request, owner: situation.owner)
                return situation.answer(token, services)
            case .interact(let reason):
                throw nothingToSpend(for: request, reason, situation.owner).about(situation.entry.account)
            case .cached, .refresh: break
            }
            let outcome: RefreshFlights.Outcome
            switch join(request, in: situation, replaces: replaces) {
            case .joined(let flight):
                outcome = await flight.value
            case .wait(let flight):
                outcome = await flight.value
                guard outcome.isPending else {
                    if !insists { replaces = nil }
                    continue
                }
            }
            do throws(BrokerError) {
                let answer = try orExtended(outcome, situation)
                // Tokens that others share are kept, but this app may have been signed out meanwhile.
                let known = try services.knownAccounts(of: request.app, in: request.partition)
                guard known.isSignedIn(situation.entry, for: request.app) else {
                    throw RefreshPrecondition.signedOut
                }
                return answer
            } catch {
                throw error.about(situation.entry.account)
            }
        }
    }

    // MARK: The request against the cache

    /// The one way from a request to what is done about it. With ``Source/memory`` it is the hot path.
    ///
    /// - Throws: also when the source does not have what is asked for; what that is, only the vault's errors say.
    func look(at request: SilentRequest, in source: Source = .vault) throws(BrokerError) -> Situation {
        try ScopeRules.check(request.scopes)
        try TenantRules.check(request.authority, for: request.app, clouds: services.clouds(of: request))
        let known = try accounts(for: request, in: source)
        let entry = try AccountChoice.choose(
            request.account, from: known, for: request.app, at: request.target,
            otherClouds: services.otherClouds(of: request)
        ).resolved(for: request.app)
        let owner = CacheIndex.OwnerKey(of: entry.stored.record, for: request.app, in: request.partition)
        let (tokens, family) = try tokens(of: owner, in: source)
        var question = SilentDecision.Question(
            scopes: request.scopes, realm: TenantRules.realm(at: request.target, for: entry, among: known),
            tokenType: request.tokenType, resources: request.resources,
            rule: ExpiryRule(
                now: services.clock.now, buffer: services.settings().expiryBuffer,
                minimumLifetime: request.minimumLifetime),
            bypassesCache: request.forceRefresh || request.claims != nil)
        question.ceiling = request.ceiling
        return Situation(
            entry: entry, owner: owner, tokens: tokens, family: family, question: question,
            decision: SilentDecision.decide(question, from: tokens, family: family), target: request.target)
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

    /// Ends a look at memory, or at too much of it; nobody is told. One value, so that the hot path makes none.
    private static let notInMemory = BrokerError(.internal, "It is not in memory yet.")

    // MARK: Refreshes

    /// - Parameter replaces: the cached access token that shall be renewed although it is still good.
    private func join(
        _ request: SilentRequest, in situation: Situation, replaces: [UInt8]?
    ) -> RefreshFlights.Joining {
        let refresh = Refresh(services: services, request: request, replaces: replaces)
        return services.flights.join(situation.refreshKey, for: .init(request), start: refresh.run)
    }

    /// Only the person can help, and why, if that is still known.
    func nothingToSpend(
        for request: SilentRequest, _ reason: ErrorReason, _ owner: CacheIndex.OwnerKey
    ) -> BrokerError {
        let now = services.clock.uptime
        if let ending = services.throttle.with({ $0.ending(of: .init(request, of: owner), at: now) }) { return ending }
        // Nothing that could be refreshed came with the sign-in: the next one asks for it as the provider wants it.
        if reason == .noTokens, (try? services.refreshTokenTakesConsent(owner.client)) == true {
            return request.needsThePerson(.consentRequired)
        }
        return request.needsThePerson(reason)
    }

    /// While the provider is down, a token past its expiry may do, if that is switched on and the provider allows it.
    private func orExtended(
        _ outcome: RefreshFlights.Outcome, _ situation: Situation
    ) throws(BrokerError) -> AcquiredToken {
        guard case .failure(let error) = outcome, error.saysProviderIsDown, services.settings().extendedLifetime else {
            return try outcome.get()
        }
        let question = situation.question
        guard !question.bypassesCache,
            let token = situation.tokens.accessToken(for: question, question.rule.isUsableWhileProviderIsDown)
        else { throw error }
        var answer = situation.answer(token, services)
        answer.extendedLifetime = true
        return answer
    }

    // MARK: Renewals ahead of time

    /// Starts a renewal when one is due; never waits, never fails.
    func renewIfDue(
        _ token: StoredRecord<AccessTokenRecord>, for request: SilentRequest, owner: CacheIndex.OwnerKey
    ) {
        let rule = RefreshAheadRule(now: services.clock.now, share: services.settings().refreshShare)
        guard rule.isDue(token.record), services.ahead.begin(owner, at: services.clock.uptime) else { return }
        // The whole token, not the part of it that this caller wants: what the others use must not be lost.
        var whole = request
        whole.scopes = ScopeRules.toRenew(token.record)
        let renewal = whole
        services.gate.join()
        Task {
            defer { services.gate.leave() }
            let failure = await renew(token, for: renewal)
            if let failure {
                services.log.warning(
                    "a token could not be renewed ahead of time; it goes on being used",
                    metadata: ["kind": "\(failure.kind.rawValue)", "cause": "\(failure)"])
            }
            services.ahead.end(owner, failure, at: services.clock.uptime)
        }
    }

    private func renew(_ token: StoredRecord<AccessTokenRecord>, for request: SilentRequest) async -> BrokerError? {
        do throws(BrokerError) {
            switch join(request, in: try look(at: request), replaces: token.sealed.box) {
            case .joined(let flight): _ = try await flight.value.get()
            // Another request of this owner is under way; its answer may renew this token too. The next caller sees.
            case .wait(let flight): _ = await flight.value
            }
            return nil
        } catch {
            return error
        }
    }
}

extension BrokerError {
    /// Tells the app who has to be asked: it may have left out the account.
    func about(_ account: Account) -> BrokerError {
        guard kind == .interactionRequired, details.accounts == nil else { return self }
        var (copy, account) = (self, account)
        if reason == .signedOut { account.signedIn = false }
        copy.details.accounts = [account]
        return copy
    }

    /// Nothing is wrong with the request or the sign-in: the provider does not answer, or says that it cannot.
    fileprivate var saysProviderIsDown: Bool {
        switch kind {
        case .offline, .timedOut: true
        case .serverUnavailable, .throttled: details.httpStatus.map { $0 >= 500 } ?? true
        default: false
        }
    }
}

extension SilentRequest {
    func needsThePerson(_ reason: ErrorReason) -> BrokerError {
        BrokerError(
            .interactionRequired,
            reason == .consentRequired
                ? "The provider keeps \(app.name) signed in only with the person's consent; sign in again to give it."
                : "There is no saved sign-in for \(app.name) here; sign in first.", reason: reason)
    }
}

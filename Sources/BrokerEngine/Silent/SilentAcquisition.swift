import BrokerModel
import BrokerValues
import Logging

/// `token.acquireSilent`: never asks the person anything.
struct SilentAcquisition: Sendable {
    let services: EngineServices

    /// A request seen against the cache: who it is for, and what was decided.
    struct Situation: Sendable {
        var entry: KnownAccounts.Entry
        var owner: CacheIndex.OwnerKey
        var tokens: CachedTokens
        var family: FamilyKnowledge
        var question: SilentDecision.Question
        var decision: SilentDecision
        /// Where a refresh goes: the request's authority, or the account's home tenant, in the account's cloud.
        var destination: Authority

        /// Refreshes that may spend the same token take turns: where there are family tokens, all clients of the account.
        var refreshKey: CacheIndex.OwnerKey { family.spendable.isEmpty ? owner : owner.ofFamilies }

        func cached(_ token: StoredRecord<AccessTokenRecord>, _ services: EngineServices) -> AcquiredToken {
            AcquiredToken(
                cached: token, for: entry, idTokens: tokens.idTokens,
                persisted: services.writer.hasWritten(token.sealed))
        }
    }

    /// Without waiting and without the disk; nil when that is not enough, or when the answer would be an error.
    func cached(_ request: SilentRequest) -> AcquiredToken? {
        guard !request.scopes.namesReserved,
            request.authority.map({ TenantRules.mayAsk(at: $0, for: request.app, clouds: services.clouds(of: request)) }
            )
                ?? true,
            let known = services.index.accounts(of: request.group),
            case .account(let entry) = AccountChoice.choose(
                request.account, from: known, for: request.app, at: request.target,
                otherClouds: services.otherClouds(of: request))
        else { return nil }
        let owner = request.owner(of: entry)
        guard let tokens = services.index.tokens(of: owner),
            case .cached(let token) = SilentDecision.decide(question(request, entry, known), from: tokens)
        else { return nil }
        renewIfDue(token, for: request, owner: owner)
        return AcquiredToken(
            cached: token, for: entry, idTokens: tokens.idTokens, persisted: services.writer.hasWritten(token.sealed))
    }

    func acquire(_ request: SilentRequest) async throws(BrokerError) -> AcquiredToken {
        try ScopeRules.check(request.scopes)
        try TenantRules.check(request.authority, for: request.app, clouds: services.clouds(of: request))
        while true {
            let situation = try look(at: request)
            switch situation.decision {
            case .cached(let token):
                renewIfDue(token, for: request, owner: situation.owner)
                return situation.cached(token, services)
            case .interact(let reason):
                throw nothingToSpend(for: request, reason, situation.owner).about(situation.entry.account)
            case .refresh:
                let refresh = Refresh(services: services, request: request)
                let outcome: RefreshFlights.Outcome
                switch services.flights.join(situation.refreshKey, for: request.refreshRequest, start: refresh.run) {
                case .joined(let flight):
                    outcome = await flight.value
                case .wait(let flight):
                    outcome = await flight.value
                    guard outcome.isPending else { continue }
                }
                do throws(BrokerError) {
                    let answer = try orExtended(outcome, request, situation)
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
    }

    /// Only the person can help, and why, if that is still known.
    func nothingToSpend(
        for request: SilentRequest, _ reason: ErrorReason, _ owner: CacheIndex.OwnerKey
    ) -> BrokerError {
        let now = services.clock.uptime
        return services.throttle.with { $0.ending(of: request.holder(of: owner), at: now) }
            ?? request.needsThePerson(reason)
    }

    /// While the provider is down, a token past its expiry may do, if that is switched on and the provider allows it.
    private func orExtended(
        _ outcome: RefreshFlights.Outcome, _ request: SilentRequest, _ situation: Situation
    ) throws(BrokerError) -> AcquiredToken {
        guard case .failure(let error) = outcome, error.saysProviderIsDown, services.settings().extendedLifetime else {
            return try outcome.get()
        }
        let question = situation.question
        guard !question.bypassesCache,
            let token = situation.tokens.extendedToken(
                covering: question.scopes, realm: question.realm, type: question.tokenType,
                resources: question.resources, rule: question.rule)
        else { throw error }
        var answer = situation.cached(token, services)
        answer.extendedLifetime = true
        return answer
    }

    func look(at request: SilentRequest) throws(BrokerError) -> Situation {
        let known = try services.knownAccounts(of: request.app, in: request.partition)
        let entry = try AccountChoice.choose(
            request.account, from: known, for: request.app, at: request.target,
            otherClouds: services.otherClouds(of: request)
        ).resolved(for: request.app)
        let owner = request.owner(of: entry)
        let tokens = try services.tokens(of: owner)
        let family = try services.family(of: owner)
        let question = question(request, entry, known)
        return Situation(
            entry: entry, owner: owner, tokens: tokens, family: family, question: question,
            decision: SilentDecision.decide(question, from: tokens, family: family),
            destination: TenantRules.destination(of: request.target, for: entry))
    }

    private func question(
        _ request: SilentRequest, _ entry: KnownAccounts.Entry, _ known: KnownAccounts
    ) -> SilentDecision.Question {
        SilentDecision.Question(
            scopes: request.scopes, realm: TenantRules.realm(at: request.target, for: entry, among: known),
            tokenType: request.tokenType, resources: request.resources,
            rule: ExpiryRule(
                now: services.clock.now, buffer: services.settings().expiryBuffer,
                minimumLifetime: request.minimumLifetime),
            bypassesCache: request.forceRefresh || request.claims != nil)
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
    var group: CacheIndex.GroupKey { .init(partition: partition, group: app.effectiveGroup) }
    var refreshRequest: RefreshFlights.Request {
        .init(
            clientID: app.clientID, scopes: scopes, authority: target, tokenType: tokenType, claims: claims,
            resources: resources)
    }

    func owner(of entry: KnownAccounts.Entry) -> CacheIndex.OwnerKey {
        CacheIndex.OwnerKey(
            partition: partition,
            owner: TokenOwner(
                group: app.effectiveGroup, clientID: app.clientID, homeAccountID: entry.stored.record.homeAccountID,
                environment: entry.stored.record.environment))
    }

    /// - Parameter token: the first that will be spent. Its nonce is as good a name as the whole box, and shorter.
    func throttled(
        as owner: CacheIndex.OwnerKey, spending token: StoredRecord<RefreshTokenRecord>?
    ) -> RequestThrottle.Request {
        .init(
            partition: partition, owner: owner.owner, authority: target,
            token: token.map { Array($0.sealed.box.prefix(24)) } ?? [], scopes: scopes, tokenType: tokenType,
            claims: claims, resources: resources)
    }

    func holder(of owner: CacheIndex.OwnerKey) -> RequestThrottle.Holder {
        .init(partition: partition, owner: owner.owner, tokenType: tokenType)
    }

    func needsThePerson(_ reason: ErrorReason) -> BrokerError {
        BrokerError(
            .interactionRequired, "There is no saved sign-in for \(app.name) here; ask interactively.", reason: reason)
    }
}

extension AcquiredToken {
    init(
        cached token: StoredRecord<AccessTokenRecord>, for entry: KnownAccounts.Entry,
        idTokens: [String: SealedRecord], persisted: Bool
    ) {
        self.init(
            token: token, idToken: idTokens[token.record.realm], account: entry.account, fromCache: true,
            persisted: persisted)
    }
}

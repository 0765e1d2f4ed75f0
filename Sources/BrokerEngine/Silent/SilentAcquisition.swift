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
        var decision: SilentDecision

        func cached(_ token: StoredRecord<AccessTokenRecord>, _ services: EngineServices) -> AcquiredToken {
            AcquiredToken(
                cached: token, for: entry, idTokens: tokens.idTokens,
                persisted: services.writer.hasWritten(token.sealed))
        }
    }

    /// Without waiting and without the disk; nil when that is not enough, or when the answer would be an error.
    func cached(_ request: SilentRequest) -> AcquiredToken? {
        guard request.tokenType == .bearer, !request.scopes.namesReserved,
            let known = services.index.accounts(of: request.group),
            case .account(let entry) = AccountChoice.choose(
                request.account, from: known, for: request.app, at: request.target),
            let tokens = services.index.tokens(of: request.owner(of: entry)),
            case .cached(let token) = SilentDecision.decide(question(request), from: tokens)
        else { return nil }
        return AcquiredToken(
            cached: token, for: entry, idTokens: tokens.idTokens, persisted: services.writer.hasWritten(token.sealed))
    }

    func acquire(_ request: SilentRequest) async throws(BrokerError) -> AcquiredToken {
        try ScopeRules.check(request.scopes)
        guard request.tokenType == .bearer else { throw ScopeRules.unsupportedTokenType }
        while true {
            let situation = try look(at: request)
            switch situation.decision {
            case .cached(let token):
                return situation.cached(token, services)
            case .interact(let reason):
                throw BrokerError(
                    .interactionRequired, "There is no saved sign-in for \(request.app.name) here; ask interactively.",
                    reason: reason)
            case .refresh:
                let refresh = Refresh(services: services, request: request)
                switch services.flights.board(situation.owner, wishing: request.wish, start: refresh.run) {
                case .aboard(let flight): return try await flight.value.get()
                case .wait(let flight): _ = await flight.value
                }
            }
        }
    }

    func look(at request: SilentRequest) throws(BrokerError) -> Situation {
        let known = try services.knownAccounts(of: request.app, in: request.partition)
        let entry = try AccountChoice.choose(request.account, from: known, for: request.app, at: request.target)
            .resolved(for: request.app)
        let owner = request.owner(of: entry)
        let tokens = try services.tokens(of: owner)
        let decision = SilentDecision.decide(question(request), from: tokens)
        return Situation(entry: entry, owner: owner, tokens: tokens, decision: decision)
    }

    private func question(_ request: SilentRequest) -> SilentDecision.Question {
        SilentDecision.Question(
            scopes: request.scopes, realm: request.target.path, tokenType: request.tokenType,
            rule: ExpiryRule(
                now: services.clock.now, buffer: services.settings().expiryBuffer,
                minimumLifetime: request.minimumLifetime),
            bypassesCache: request.forceRefresh || request.claims != nil)
    }
}

extension SilentRequest {
    var target: Authority { authority ?? app.authority }
    var group: CacheIndex.GroupKey { .init(partition: partition, group: app.effectiveGroup) }
    var wish: RefreshFlights.Wish {
        .init(scopes: scopes, authority: target, tokenType: tokenType, claims: claims)
    }

    var extras: TokenRequestExtras {
        var extras = TokenRequestExtras()
        extras.claims = ClaimsRule.merged(claims, capabilities: clientCapabilities)
        extras.resources = resources
        return extras
    }

    func owner(of entry: KnownAccounts.Entry) -> CacheIndex.OwnerKey {
        CacheIndex.OwnerKey(
            partition: partition,
            owner: TokenOwner(
                group: app.effectiveGroup, clientID: app.clientID, homeAccountID: entry.stored.record.homeAccountID,
                environment: entry.stored.record.environment))
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

import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Redeems refresh tokens: one flight at a time for a token, whose result is kept before any caller is answered.
final class Refresh: Sendable {
    typealias RefreshToken = StoredRecord<RefreshTokenRecord>

    private let lookups: CacheLookup
    private let flights: RefreshFlights
    private let exchange: RefreshTokenExchange
    private let updates: RefreshTokenUpdates
    private let deletion: DeletedAccount
    private let missing: MissingTokens
    private let throttle: ThrottleBox
    private let clock: any BrokerClock
    /// Counts the outcomes of refreshes.
    let outcomes = OutcomeCounts()

    init(
        lookups: CacheLookup, flights: RefreshFlights, exchange: RefreshTokenExchange, updates: RefreshTokenUpdates,
        deletion: DeletedAccount, missing: MissingTokens, throttle: ThrottleBox, clock: any BrokerClock
    ) {
        (self.lookups, self.flights, self.exchange, self.updates) = (lookups, flights, exchange, updates)
        (self.deletion, self.missing, self.throttle, self.clock) = (deletion, missing, throttle, clock)
    }

    /// - Parameter replaces: the cached access token to renew although it is still valid.
    func join(_ lookup: LookupResult, replaces: [UInt8]?) -> RefreshFlights.Joining {
        let request = lookup.request
        return flights.join(lookup.refreshKey, for: .init(request)) { await self.run(request, replaces: replaces) }
    }

    private func run(_ request: SilentRequest, replaces: [UInt8]?) async -> RefreshFlights.Outcome {
        while true {
            do throws(BrokerError) {
                return .success(try await attempt(request, replaces: replaces))
            } catch {
                // A sign-in came in between: its refresh token has not been redeemed yet.
                guard error.cause is RefreshPrecondition.Replaced else { return .failure(error) }
            }
        }
    }

    private func attempt(_ request: SilentRequest, replaces: [UInt8]?) async throws(BrokerError) -> AcquiredToken {
        // The state may have changed since the flight was created: an earlier flight has just rotated the token.
        let lookup = try lookups.look(at: request)
        switch lookup.decision {
        case .cached(let token):
            guard token.sealed.box == replaces else { return lookups.answer(token, from: lookup) }
            let spendable = lookup.spendable
            guard !spendable.isEmpty else {
                throw missing.error(for: request, .noTokens, lookup.owner)
            }
            return try await ask(spendable, in: lookup)
        case .interact(let reason):
            throw missing.error(for: request, reason, lookup.owner)
        case .refresh(let spendable):
            do throws(BrokerError) {
                return try await ask(spendable, in: lookup)
            } catch {
                // A sign-in may have brought the requested token while the old refresh token was refused.
                guard error.kind == .interactionRequired, error.reason != .accountDeleted else { throw error }
                let now = try lookups.look(at: request)
                guard now.owner == lookup.owner, case .cached(let token) = now.decision,
                    token.record.isOfEndedSignIn != true
                else { throw error }
                return lookups.answer(token, from: now)
            }
        }
    }

    /// Asks the provider, unless it has just refused the same request.
    private func ask(_ spendable: [RefreshToken], in lookup: LookupResult) async throws(BrokerError) -> AcquiredToken {
        let (request, held) = (lookup.request, spendable)
        let spendable = held.filter {
            ScopeRules.mayRefresh(
                request.scopes, resources: request.resources, spending: $0.record, at: request.target.kind)
        }
        if spendable.isEmpty, let best = held.first {
            let granted = Scopes(best.record.scopes)
            throw BrokerError(.interactionRequired, ScopeRefusal.notGrantedSentence, reason: .scopesNotGranted) {
                $0.grantedScopes = granted.subtracting(.reserved).asGiven
                $0.declinedScopes = ScopeRules.declined(asked: request.scopes, granted: granted).asGiven
            }
        }
        let same = RequestThrottle.Request(request, of: lookup.owner, spending: spendable.first)
        let now = clock.uptime
        if let refusal = throttle.with({ $0.refusal(of: same, insists: request.forceRefresh, at: now) }) {
            throw refusal
        }
        do throws(BrokerError) {
            let token = try await spend(spendable, in: lookup)
            outcomes.countDone()
            throttle.with { $0.succeeded(same) }
            return token
        } catch {
            outcomes.count(error.kind)
            let failedAt = clock.uptime
            throttle.with { $0.failed(same, with: error, at: failedAt) }
            throw error
        }
    }

    private func spend(
        _ spendable: [RefreshToken], in lookup: LookupResult
    ) async throws(BrokerError) -> AcquiredToken {
        let request = lookup.request
        var error = request.interactionRequired(.noTokens)
        var dead: [Secret] = []
        for (place, token) in spendable.enumerated() {
            let secret = try exchange.secret(of: token)
            var (useless, failure) = (token, RefreshTokenExchange.Failure.isDead)
            // The family's token is often the app's own.
            if !dead.contains(secret) {
                switch try await exchange.spend(token, secret, in: lookup) {
                case .done(let answer): return answer
                case .useless(let sent, let why, let learned):
                    // The first error says why the sign-in is over; the failure of further tokens adds nothing.
                    if dead.isEmpty || learned == .accountIsGone { error = why }
                    dead.append(secret)
                    (useless, failure) = (sent, learned)
                }
            }
            // Before the last one is removed: requests that find none from then on get this error.
            if place == spendable.endIndex - 1, error.reason != .noTokens {
                let (holder, now) = (RequestThrottle.TokenKey(request, of: lookup.owner), clock.uptime)
                throttle.with { [error] in $0.ended(holder, with: error, at: now) }
            }
            switch failure {
            case .isDead:
                // The person signed out or in meanwhile; another look at the cache says which.
                guard await updates.forget(useless, of: request.app) else { throw RefreshPrecondition.replaced }
            case .accountIsGone:
                await deletion.remove(lookup.entry.stored.record, from: request.app, asToldFor: useless)
                throw error
            case .notInFamily: await updates.remember(.outsider, lookup.owner.client)
            }
        }
        throw error
    }
}

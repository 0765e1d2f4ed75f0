import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Implements `token.acquireSilent`, which never asks the person anything.
final class SilentAcquisition: Sendable {
    let lookups: CacheLookup
    private let renewals: TokenRenewals
    private let refresh: Refresh
    let missing: MissingTokens
    let cache: TokenCache
    private let settings: SettingsBox
    let clock: any BrokerClock
    let rejectedTokens = RejectedTokens()

    init(
        lookups: CacheLookup, renewals: TokenRenewals, refresh: Refresh, missing: MissingTokens, cache: TokenCache,
        settings: SettingsBox, clock: any BrokerClock
    ) {
        (self.lookups, self.renewals, self.refresh, self.missing) = (lookups, renewals, refresh, missing)
        (self.cache, self.settings, self.clock) = (cache, settings, clock)
    }

    /// The answer from memory, without waiting and without the disk: the hot path.
    ///
    /// - Returns: `nil` if that is not enough, or if the answer would be an error.
    func cached(_ request: SilentRequest) -> AcquiredToken? {
        guard request.rejectedToken == nil, request.stepUp == nil,
            let lookup = try? lookups.look(at: request, in: .memory), case .cached(let token) = lookup.decision
        else { return nil }
        renewals.beginIfDue(token, from: lookup)
        return lookups.answer(token, from: lookup)
    }

    func acquire(_ request: SilentRequest) async throws(BrokerError) -> AcquiredToken {
        if let stepUp = request.stepUp { return try raised(to: stepUp, for: request) }
        guard let rejected = request.rejectedToken else { return try await acquire(request, replaces: nil) }
        return try await another(than: rejected, for: request)
    }

    /// - Parameters:
    ///   - replaces: the cached access token that is no answer although it is still valid.
    ///   - insists: whether another refresh replaces it if the one that had to be waited for did not.
    func acquire(
        _ request: SilentRequest, replaces: [UInt8]?, insists: Bool = true
    ) async throws(BrokerError) -> AcquiredToken {
        var replaces = replaces
        while true {
            let lookup = try lookups.look(at: request)
            switch lookup.decision {
            case .cached(let token) where token.sealed.box != replaces:
                renewals.beginIfDue(token, from: lookup)
                return lookups.answer(token, from: lookup)
            case .interact(let reason):
                throw missing.error(for: request, reason, lookup.owner).about(lookup.entry.account)
            case .cached, .refresh: break
            }
            let joining = refresh.join(lookup, replaces: replaces)
            // The flight goes on without a caller that goes away.
            guard let outcome = await joining.answer.valueUnlessCanceled, !Task.isCancelled else {
                throw .callerWentAway
            }
            if case .wait = joining, !outcome.isPending {
                if !insists { replaces = nil }
                continue
            }
            do throws(BrokerError) {
                if let answer = try settled(outcome, lookup, replaces: replaces) { return answer }
            } catch {
                throw error.about(lookup.entry.account)
            }
        }
    }

    /// The answer of a flight, held against the present: meanwhile the person may have signed out, or another one in.
    ///
    /// - Parameter replaces: the token that is no answer.
    /// - Returns: `nil` for another person's answer.
    private func settled(
        _ outcome: RefreshFlights.Outcome, _ lookup: LookupResult, replaces: [UInt8]?
    ) throws(BrokerError) -> AcquiredToken? {
        let answer: AcquiredToken
        if case .failure(let error) = outcome, !lookup.question.bypassesCache, replaces == nil,
            let cached = try cached(despite: error, lookup)
        {
            answer = cached
        } else {
            answer = try outcome.get()
        }
        let record = lookup.entry.stored.record
        guard KnownAccounts.PersonKey(answer.person.stored.record) == KnownAccounts.PersonKey(record) else {
            return nil
        }
        // Shared tokens are kept, but this app may have been signed out.
        let known = try cache.accounts(of: lookup.request.app, in: lookup.request.partition)
        guard known.hasSignedIn(record, for: lookup.request.app.identity) else { throw RefreshPrecondition.signedOut }
        return try answer.measured(for: lookup.request, at: clock.now)
    }

    /// The cached token in place of a failed refresh. A narrow request then accepts one with more scopes. While the provider cannot
    /// be asked, a token counts as valid until its end; and an expired one does if that is enabled and the provider allows it.
    private func cached(
        despite error: BrokerError, _ earlier: LookupResult
    ) throws(BrokerError) -> AcquiredToken? {
        let isNarrow = earlier.request.isNarrow && error.reason != .accountDeleted
        guard isNarrow || error.isProviderUnreachable else { return nil }
        let lookup = try lookups.look(at: earlier.request)
        let question = lookup.question
        if isNarrow, lookup.owner == earlier.owner,
            case .cached(let token) = SilentDecision.decide(question, from: lookup.tokens, family: lookup.family)
        {
            return lookups.answer(token, from: lookup)
        }
        guard error.isProviderUnreachable else { return nil }
        let idToken = question.measuredIDToken(of: lookup.tokens)
        let inBuffer = lookup.tokens.accessToken(for: question) { question.isUsableInBuffer($0, beside: idToken) }
        if let token = inBuffer {
            return lookups.answer(token, from: lookup)
        }
        guard error.saysProviderIsDown, question.lifetimeOf == .accessToken, settings.value.extendedLifetime,
            let token = lookup.tokens.accessToken(for: question, question.rule.isUsableWhileProviderIsDown)
        else { return nil }
        var answer = lookups.answer(token, from: lookup)
        answer.extendedLifetime = true
        return answer
    }
}

extension BrokerError {
    /// Whether the provider could not be asked, or asked for a pause. The request and the sign-in are fine then.
    fileprivate var isProviderUnreachable: Bool {
        switch kind {
        case .offline, .timedOut, .serverUnavailable, .throttled: true
        default: false
        }
    }

    /// Whether the provider does not answer, or says that it cannot. The request and the sign-in are fine then.
    fileprivate var saysProviderIsDown: Bool {
        switch kind {
        case .offline, .timedOut: true
        case .serverUnavailable, .throttled: details.httpStatus.map { $0 >= 500 } ?? true
        default: false
        }
    }
}

extension AcquiredToken {
    /// - Throws: `interactionRequired` if the ID token is requested, and the refresh brought no valid one.
    fileprivate func measured(for request: SilentRequest, at now: NumericDate) throws(BrokerError) -> AcquiredToken {
        guard request.query.lifetimeOf == .idToken else { return self }
        if let idTokenEnd, idTokenEnd <= now { throw request.interactionRequired(.idTokenExpired) }
        var answer = self
        answer.lifetimeOf = .idToken
        return answer
    }
}

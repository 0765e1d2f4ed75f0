import BrokerModel
import BrokerValues
import Logging

/// `token.acquireSilent`, where memory does not have the token: never asks the person anything.
struct SilentAcquisition: Sendable {
    let services: EngineServices

    typealias LookupResult = CacheLookup.LookupResult
    var looking: CacheLookup { CacheLookup(services: services) }

    func acquire(_ request: SilentRequest) async throws(BrokerError) -> AcquiredToken {
        if let stepUp = request.stepUp { return try raised(to: stepUp, for: request) }
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
            let lookup = try looking.look(at: request)
            switch lookup.decision {
            case .cached(let token) where token.sealed.box != replaces:
                looking.renewIfDue(token, for: request, owner: lookup.owner)
                return lookup.answer(token, services)
            case .interact(let reason):
                throw nothingToSpend(for: request, reason, lookup.owner).about(lookup.entry.account)
            case .cached, .refresh: break
            }
            let outcome: RefreshFlights.Outcome
            switch join(request, in: lookup, replaces: replaces) {
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
                let answer = try orCached(outcome, lookup, replaces: replaces).measured(for: request, by: services)
                // Tokens that others share are kept, but this app may have been signed out meanwhile.
                let known = try services.knownAccounts(of: request.app, in: request.partition)
                guard known.isSignedIn(lookup.entry, for: request.app) else {
                    throw RefreshPrecondition.signedOut
                }
                return answer
            } catch {
                throw error.about(lookup.entry.account)
            }
        }
    }

    // MARK: Refreshes

    /// - Parameter replaces: the cached access token that shall be renewed although it is still good.
    private func join(
        _ request: SilentRequest, in lookup: LookupResult, replaces: [UInt8]?
    ) -> RefreshFlights.Joining {
        let refresh = Refresh(services: services, request: request, replaces: replaces)
        return services.flights.join(lookup.refreshKey, for: .init(request), start: refresh.run)
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

    /// While the provider cannot be asked, a token does that counts as expired only because it ends soon; and one past its
    /// expiry, if that is switched on and the provider allows it.
    ///
    /// - Parameter replaces: the token that is no answer.
    private func orCached(
        _ outcome: RefreshFlights.Outcome, _ lookup: LookupResult, replaces: [UInt8]?
    ) throws(BrokerError) -> AcquiredToken {
        let question = lookup.question
        guard case .failure(let error) = outcome, error.isForWantOfProvider, !question.bypassesCache, replaces == nil
        else { return try outcome.get() }
        let idToken = question.measuredIDToken(of: lookup.tokens)
        let inBuffer = lookup.tokens.accessToken(for: question) { question.isUsableInBuffer($0, beside: idToken) }
        if let token = inBuffer {
            return lookup.answer(token, services)
        }
        guard error.saysProviderIsDown, question.lifetimeOf == .accessToken, services.settings().extendedLifetime,
            let token = lookup.tokens.accessToken(for: question, question.rule.isUsableWhileProviderIsDown)
        else { throw error }
        var answer = lookup.answer(token, services)
        answer.extendedLifetime = true
        return answer
    }

    // MARK: Renewals ahead of time

    /// Renews a token in the background, unless that is under way.
    func renewAhead(
        _ token: StoredRecord<AccessTokenRecord>, for request: SilentRequest, owner: CacheIndex.OwnerKey
    ) {
        guard services.ahead.begin(owner, at: services.clock.uptime) else { return }
        // What the others use must not be lost.
        let renewal = SilentRequest(request, forAllOf: token.record)
        services.gate.join()
        Task {
            defer { services.gate.leave() }
            let failure = await renew(token, for: renewal)
            if let failure {
                services.log.warning(
                    "a token could not be renewed ahead of time; it goes on being used",
                    metadata: ["kind": "\(failure.kind.rawValue)", "cause": services.quoted(failure)])
            }
            services.ahead.end(owner, failure, at: services.clock.uptime)
        }
    }

    private func renew(_ token: StoredRecord<AccessTokenRecord>, for request: SilentRequest) async -> BrokerError? {
        do throws(BrokerError) {
            switch join(request, in: try looking.look(at: request), replaces: token.sealed.box) {
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

    /// Nothing is wrong with the request or the sign-in: the provider could not be asked, or wants to be left alone.
    fileprivate var isForWantOfProvider: Bool {
        switch kind {
        case .offline, .timedOut, .serverUnavailable, .throttled: true
        default: false
        }
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

extension AcquiredToken {
    /// - Throws: `interactionRequired` where the ID token is asked for, and the refresh brought none that is still good.
    fileprivate func measured(
        for request: SilentRequest, by services: EngineServices
    ) throws(BrokerError) -> AcquiredToken {
        guard request.query.lifetimeOf == .idToken else { return self }
        if let idTokenEnd, idTokenEnd <= services.clock.now { throw request.needsThePerson(.idTokenExpired) }
        var answer = self
        answer.lifetimeOf = .idToken
        return answer
    }
}

extension SilentRequest {
    func needsThePerson(_ reason: ErrorReason) -> BrokerError {
        let sentence =
            switch reason {
            case .consentRequired:
                "The provider keeps \(app.name) signed in only with the person's consent; sign in again to give it."
            case .idTokenExpired:
                "The ID token of \(app.name) has ended, and the provider gives another only at a sign-in; sign in again."
            default: "There is no saved sign-in for \(app.name) here; sign in first."
            }
        return BrokerError(.interactionRequired, sentence, reason: reason)
    }
}

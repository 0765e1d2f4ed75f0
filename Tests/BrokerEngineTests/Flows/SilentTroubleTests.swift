import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Synchronization
import Testing

/// Answers after which a silent request is not just a refresh.
@Suite("Silent acquisition: renewal, pauses, lost answers")
struct SilentTroubleTests {
    private let busy = ProviderError.unavailable(status: 503, retryAfter: nil, "busy")

    private func settings(_ change: (inout EngineSettings) -> Void) -> EngineSettings {
        var settings = EngineSettings()
        change(&settings)
        return settings
    }

    private func failure(_ bed: EngineBed, _ request: SilentRequest? = nil) async -> BrokerError? {
        await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(request ?? bed.silent()) }
    }

    /// A sign-in whose token is due for renewal after half an hour, and has an extended lifetime of two hours.
    private func signedIn() async throws -> EngineBed {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            var response = provider.tokens(for: "alice")
            response.refreshIn = 1800
            response.extendedExpiresIn = 7200
            return response
        }
        try await bed.signIn()
        return bed
    }

    // MARK: Grants that become narrower

    /// The scopes of a refresh token at a provider that narrows them with each refresh, against RFC 6749, section 6.
    private final class NarrowingGrant: Sendable {
        private let left = Mutex(Scopes([]))

        func begin(_ scopes: Scopes) { left.withLock { $0 = scopes } }

        func refresh(_ scopes: Scopes) throws(ProviderError) {
            let isCovered = left.withLock { left in
                defer { if scopes.isSubset(of: left) { left = scopes } }
                return scopes.isSubset(of: left)
            }
            guard isCovered else { throw .refused(OAuthRefusal(error: "invalid_scope", status: 400)) }
        }
    }

    @Test("a provider that narrows grants is asked for the whole grant, also after the next sign-in")
    func narrowingProvider() async throws {
        let bed = try await EngineBed()
        let (mail, both, grant) = (["mail.read"], ["mail.read", "calendar"], NarrowingGrant())
        let whole = Scopes.reserved.union(Scopes(both))
        bed.provider.whenRedeeming { [unowned provider = bed.provider] redeemed async throws(ProviderError) in
            guard case .refreshToken(_, let asked) = redeemed else {
                let asked = provider.authorizations.last?.scopes ?? Scopes([])
                grant.begin(asked)
                return provider.tokens(for: "alice", scope: asked.parameter)
            }
            try grant.refresh(asked)
            return provider.tokens(for: "alice", scope: asked.parameter)
        }
        try await bed.signIn("alice", Sample.app(), both)
        _ = try await bed.engine.acquireSilent(bed.silent(Sample.app(), mail) { $0.forceRefresh = true })
        let error = await failure(bed, bed.silent(Sample.app(), ["calendar"]))
        #expect(error?.reason == .scopesNotGranted)
        // The remaining scopes are still valid, and only they are requested.
        _ = try await bed.engine.acquireSilent(bed.silent(Sample.app(), mail) { $0.forceRefresh = true })

        // The app asks for the scopes it needs now, which must not cost it the earlier ones.
        try await bed.signIn("alice", Sample.app(), ["calendar"])
        #expect(bed.provider.authorizations.last?.scopes == whole)
        let engine = try await bed.restarted()
        for _ in 1...2 {
            let token = try await engine.acquireSilent(bed.silent(Sample.app(), mail) { $0.forceRefresh = true })
            #expect(Scopes(token.token.record.scopes) == whole)
            #expect(try await engine.acquireSilent(bed.silent(Sample.app(), ["calendar"])).fromCache)
        }
        // A refresh for less would bring the whole grant again.
        #expect(try await engine.acquireSilent(bed.silent(Sample.app(), mail) { $0.isNarrow = true }).fromCache)
    }

    // MARK: The end of a sign-in

    @Test("a request just after the last refresh token was removed gets the reason")
    func hearsWhy() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            throw .refused(OAuthRefusal(error: "invalid_grant", subError: "token_expired", status: 400))
        }
        let (engine, request) = (bed.engine, bed.silent { $0.forceRefresh = true })
        let (errors, answer) = AsyncStream.makeStream(of: BrokerError.self)
        let subscription = try engine.subscribe(to: [.token], group: nil, in: Sample.partition) { event in
            guard case .token(.refreshTokenRejected, _, _, _) = event.change else { return }
            // The token is gone, and the first caller has not been answered yet. The second runs as far as it can at once.
            Task.immediate {
                do throws(BrokerError) {
                    _ = try await engine.acquireSilent(request)
                } catch {
                    answer.yield(error)
                }
            }
        }
        let first = await failure(bed, request)
        #expect(first?.kind == .interactionRequired && first?.reason != .noTokens)
        let second = await errors.first { _ in true }
        #expect(second?.reason == first?.reason)
        #expect(bed.provider.refreshes == ["rt-1"])
        withExtendedLifetime(subscription) {}
    }

    // MARK: Renewal in the background

    @Test("a valid token past refresh_in is returned at once, and renewed once in the background")
    func renewal() async throws {
        let bed = try await signedIn()
        bed.clock.advance(bySeconds: 1799)
        #expect(bed.engine.cached(bed.silent()) != nil)
        #expect(bed.provider.refreshes.isEmpty)

        bed.provider.refreshGate.close()
        bed.clock.advance(bySeconds: 1)
        for _ in 0..<100 { #expect(try bed.text(try #require(bed.engine.cached(bed.silent()))) == "at-1") }
        bed.provider.refreshGate.open()
        try await eventually("the new token is answered") {
            try bed.text(try #require(bed.engine.cached(bed.silent()))) != "at-1"
        }
        #expect(bed.provider.refreshes == ["rt-1"])
    }

    @Test("the waiting path renews too, and returns the valid token after a restart")
    func renewalAfterRestart() async throws {
        let bed = try await signedIn()
        bed.clock.advance(bySeconds: 2000)
        let engine = try await bed.restarted()
        #expect(try await engine.acquireSilent(bed.silent()).fromCache)
        try await bed.provider.waitForRefreshes()
    }

    @Test("a renewal asks for all of the token's scopes, not for one caller's")
    func renewsTheWholeToken() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            var response = provider.tokens(for: "alice", scope: "openid mail.read calendar")
            response.refreshIn = 100
            return response
        }
        try await bed.signIn("alice", Sample.app(), ["mail.read", "calendar"])
        bed.clock.advance(bySeconds: 100)
        #expect(bed.engine.cached(bed.silent()) != nil)
        try await bed.provider.waitForRefreshes()
        #expect(bed.provider.lastRefreshScopes.map { Scopes(["mail.read", "calendar"]).isSubset(of: $0) } == true)
    }

    @Test("the configured share of the lifetime applies without refresh_in, and by default nothing is renewed")
    func share() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.clock.advance(bySeconds: 2000)
        #expect(bed.engine.cached(bed.silent()) != nil)
        #expect(bed.engine.refreshesInFlight == 0)
        bed.engine.apply(settings { $0.refreshShare = 50 })
        #expect(bed.engine.cached(bed.silent()) != nil)
        try await bed.provider.waitForRefreshes()
    }

    @Test(
        "a failed renewal affects no call while the token is valid, and is not repeated for a minute",
        arguments: [
            ProviderError.unavailable(status: 503, retryAfter: nil, "busy"), .offline("no route"),
            .outcomeUnknown("timed out"),
        ])
    func failingRenewal(error: ProviderError) async throws {
        let bed = try await signedIn()
        bed.provider.whenRedeeming { _ throws(ProviderError) in throw error }
        bed.clock.advance(bySeconds: 1800)
        #expect(bed.engine.cached(bed.silent()) != nil)
        try await bed.provider.waitForRefreshes()
        try await eventually("the renewal has ended") { bed.engine.refreshesInFlight == 0 }
        for _ in 0..<50 {
            #expect(bed.engine.cached(bed.silent()) != nil)
            #expect(try await bed.engine.acquireSilent(bed.silent()).fromCache)
        }
        #expect(bed.provider.refreshes.count == 1)

        try await eventually("the renewal is repeated") {
            // The end of the first is recorded a moment after its flight is over, and the second one marks its token first.
            if bed.engine.refreshesInFlight == 0 { bed.clock.advance(bySeconds: 60) }
            #expect(bed.engine.cached(bed.silent()) != nil)
            return bed.provider.refreshes.count > 1
        }
    }

    // MARK: Throttling

    @Test("a Retry-After answers equal requests from memory, even forced ones, and lets others through")
    func throttled() async throws {
        let bed = try await signedIn()
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            throw .unavailable(status: 429, retryAfter: 30, "slow down")
        }
        let forced = bed.silent { $0.forceRefresh = true }
        #expect(await failure(bed, forced)?.kind == .serverUnavailable)
        let told = await failure(bed, forced)
        #expect(told?.kind == .throttled)
        #expect(told?.details.retryAfter == 30)
        #expect(told?.details.httpStatus == 429)
        #expect(bed.provider.refreshes.count == 1)
        #expect(bed.engine.cached(bed.silent()) != nil, "a cached token is served all the same")
        let other = bed.silent { $0.resources = ["https://api.example"] }
        #expect(await failure(bed, other)?.kind == .serverUnavailable)

        bed.provider.whenRedeeming(nil)
        bed.clock.advance(bySeconds: 30)
        #expect(try await !bed.engine.acquireSilent(forced).fromCache)
    }

    @Test("a single 5xx causes no pause, but the second in a row a short one")
    func plainServerError() async throws {
        let bed = try await signedIn()
        bed.provider.whenRedeeming { [busy] _ throws(ProviderError) in throw busy }
        let forced = bed.silent { $0.forceRefresh = true }
        for kind in [ErrorKind.serverUnavailable, .serverUnavailable, .throttled] {
            #expect(await failure(bed, forced)?.kind == kind)
        }
        bed.clock.advance(bySeconds: 2)
        #expect(await failure(bed, forced)?.kind == .serverUnavailable)
    }

    @Test("missing consent is answered from memory until the person has signed in")
    func interactionMemory() async throws {
        let bed = try await signedIn()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] grant throws(ProviderError) in
            guard case .refreshToken = grant else {
                // No new refresh token: only the sign-in itself clears anything.
                var response = provider.tokens(for: "alice", expiresIn: 1)
                response.refreshToken = nil
                return response
            }
            throw .refused(OAuthRefusal(error: "invalid_grant", subError: "consent_required", status: 400))
        }
        let request = bed.silent { $0.resources = ["https://api.example"] }
        for _ in 0..<3 { #expect(await failure(bed, request)?.reason == .consentRequired) }
        #expect(bed.provider.refreshes.count == 1)
        bed.clock.advance(bySeconds: 120)
        #expect(await failure(bed, request)?.reason == .consentRequired)
        #expect(bed.provider.refreshes.count == 2)

        try await bed.signIn()
        #expect(await failure(bed, request)?.reason == .consentRequired)
        #expect(bed.provider.refreshes.count == 3)
    }

    // MARK: A provider that is down

    @Test(
        "an expired token with an extended lifetime is returned and marked while the provider is down",
        arguments: [
            ProviderError.unavailable(status: 503, retryAfter: nil, "busy"), .offline("no route"),
            .outcomeUnknown("timed out"),
        ])
    func extendedLifetime(error: ProviderError) async throws {
        let bed = try await signedIn()
        bed.provider.whenRedeeming { _ throws(ProviderError) in throw error }
        bed.clock.advance(bySeconds: 4000)
        #expect(await failure(bed) != nil, "it is off by default")
        bed.engine.apply(settings { $0.extendedLifetime = true })
        let token = try await bed.engine.acquireSilent(bed.silent())
        #expect(token.extendedLifetime && token.fromCache)
        #expect(try bed.text(token) == "at-1")
        #expect(await failure(bed, bed.silent { $0.forceRefresh = true }) != nil)
        #expect(await failure(bed, bed.silent { $0.claims = "{}" }) != nil)
        bed.clock.advance(bySeconds: 3200)
        #expect(await failure(bed) != nil, "the extension is over")
    }

    @Test("an extended lifetime does not override a refusal")
    func extendedNotForRefusals() async throws {
        let bed = try await signedIn()
        bed.engine.apply(settings { $0.extendedLifetime = true })
        bed.clock.advance(bySeconds: 4000)
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            throw .unavailable(status: 429, retryAfter: nil, "slow down")
        }
        #expect(await failure(bed)?.kind == .serverUnavailable)
        #expect(await failure(bed)?.kind == .throttled)
        bed.clock.advance(bySeconds: 60)
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            throw .refused(OAuthRefusal(error: "invalid_grant", status: 400))
        }
        #expect(await failure(bed)?.kind == .interactionRequired)
    }

    // MARK: Lost and late answers

    @Test("a hanging provider does not delay another with an equal refresh token")
    func equalTokens() async throws {
        let bed = try await EngineBed()
        let apps = ["slow", "good"].map { Sample.app($0, at: Sample.authority("https://\($0).example")) }
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            var response = provider.tokens(for: "alice")
            response.refreshToken = Secret("1")
            return response
        }
        for app in apps { try await bed.signIn("alice", app) }
        let (gate, engine) = (bed.holdTokens(), bed.engine)
        let held = bed.silent(apps[0]) { $0.forceRefresh = true }
        let waiting = Task { try await engine.acquireSilent(held) }
        try await gate.waitForCallers()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in provider.tokens(for: "alice") }
        _ = try await bed.engine.acquireSilent(bed.silent(apps[1]) { $0.forceRefresh = true })
        #expect(gate.waiting == 1)
        gate.open()
        _ = try await waiting.value
    }

    @Test("callers are not kept waiting forever, and the late response is kept")
    func lateAnswer() async throws {
        let bed = try await signedIn()
        bed.clock.advance(bySeconds: 4000)
        let gate = bed.holdTokens()
        let (engine, request) = (bed.engine, bed.silent())
        let waiting = Task { try await engine.acquireSilent(request) }
        try await bed.provider.waitForRefreshes()
        try await bed.clock.waitForSleepers()
        bed.clock.advance(bySeconds: 30)
        let told = await #expect(throws: BrokerError.self) { try await waiting.value }
        #expect(told?.kind == .timedOut)
        #expect(told?.reason == .answerPending)
        // Neither the same request nor another redeems the token again.
        #expect(await failure(bed)?.reason == .answerPending)
        #expect(await failure(bed, bed.silent(Sample.app(), ["calendar"]))?.reason == .answerPending)
        #expect(bed.engine.refreshesInFlight == 1)

        gate.open()
        await bed.engine.drain()
        #expect(bed.engine.refreshesInFlight == 0)
        #expect(try bed.text(try #require(engine.cached(request))) == "at-2")
        #expect(bed.provider.refreshes == ["rt-1"])
    }

    @Test(
        "a token whose response was lost is retried once, and its refusal names that, also after a restart",
        arguments: [
            (ProviderError.outcomeUnknown("lost"), ErrorKind.serverUnavailable),
            // Larger than the broker accepts, or not HTTP.
            (.invalidResponse(status: nil, "too large"), .invalidResponse),
        ])
    func lostAnswer(error: ProviderError, kind: ErrorKind) async throws {
        let bed = try await signedIn()
        bed.clock.advance(bySeconds: 4000)
        bed.provider.whenRedeeming { _ throws(ProviderError) in throw error }
        #expect(await failure(bed)?.kind == kind)
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            throw .refused(OAuthRefusal(error: "invalid_grant", status: 400))
        }
        let engine = try await bed.restarted()
        let told = await #expect(throws: BrokerError.self) { try await engine.acquireSilent(bed.silent()) }
        #expect(told?.reason == .refreshTokenRevoked)
        #expect(told?.message.contains("lost") == true)
        #expect(bed.provider.refreshes == ["rt-1", "rt-1"])
    }

    @Test("a token that works again after a lost response is no longer in doubt")
    func foundAnswer() async throws {
        let bed = try await signedIn()
        bed.clock.advance(bySeconds: 4000)
        bed.provider.whenRedeeming { _ throws(ProviderError) in throw .outcomeUnknown("lost") }
        _ = await failure(bed)
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            var response = provider.tokens()
            response.refreshToken = nil
            return response
        }
        _ = try await bed.engine.acquireSilent(bed.silent())
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            throw .refused(OAuthRefusal(error: "invalid_grant", status: 400))
        }
        let told = await failure(bed, bed.silent { $0.forceRefresh = true })
        #expect(told?.message.contains("lost") == false)
    }
}

import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Silent acquisition")
struct SilentFlowTests {
    @Test("a request without a sign-in needs interaction, and the provider is not asked")
    func noTokens() async throws {
        let bed = try await EngineBed()
        let error = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(bed.silent()) }
        #expect(error?.kind == .interactionRequired)
        #expect(error?.reason == .noTokens)
        #expect(bed.provider.grants.isEmpty)
        #expect(bed.engine.cached(bed.silent()) == nil)
    }

    @Test("an expired token is refreshed and the refresh token rotated, and both survive a restart")
    func refresh() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.clock.advance(bySeconds: 3301)
        #expect(bed.engine.cached(bed.silent()) == nil)
        let token = try await bed.engine.acquireSilent(bed.silent())
        #expect(try bed.text(token) == "at-2")
        #expect(!token.fromCache && token.persisted)
        #expect(bed.provider.refreshes == ["rt-1"])

        let engine = try await bed.restarted()
        #expect(engine.cached(bed.silent()) == nil, "nothing is read at start")
        let again = try await engine.acquireSilent(bed.silent())
        #expect(again.fromCache)
        _ = try await engine.acquireSilent(bed.silent { $0.forceRefresh = true })
        #expect(bed.provider.refreshes == ["rt-1", "rt-2"])
    }

    @Test("a thousand callers of one expired token cause one refresh")
    func oneFlight() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.clock.advance(bySeconds: 4000)
        let gate = bed.holdTokens()
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<1000 {
                group.addTask { try bed.text(try await bed.engine.acquireSilent(bed.silent())) }
            }
            try await bed.provider.waitForRefreshes()
            #expect(bed.engine.refreshesInFlight == 1)
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(texts.count == 1000)
        #expect(Set(texts) == ["at-2"])
        #expect(bed.provider.refreshes == ["rt-1"])
        #expect(bed.engine.refreshesInFlight == 0)
    }

    @Test("callers with other requests wait for the refresh token, and use the new one")
    func otherWishes() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice", Sample.app(), ["mail.read", "calendar"])
        bed.clock.advance(bySeconds: 4000)
        let gate = Gate()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] grant in
            guard case .refreshToken(_, let scopes) = grant else { return provider.tokens(for: "alice") }
            await gate.wait()
            return provider.tokens(scope: scopes.parameter)
        }
        let calls = ["mail.read", "calendar"].map { scope in
            Task.immediate { try await bed.engine.acquireSilent(bed.silent(Sample.app(), [scope])) }
        }
        gate.open()
        for call in calls { _ = try await call.value }
        #expect(bed.provider.refreshes == ["rt-1", "rt-2"])
    }

    @Test("a caller that leaves does not end the refresh")
    func callerLeaves() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.clock.advance(bySeconds: 4000)
        let gate = bed.holdTokens()
        let (engine, request) = (bed.engine, bed.silent())
        let caller = Task { try await engine.acquireSilent(request) }
        try await bed.provider.waitForRefreshes()
        caller.cancel()
        // It keeps nothing of the request: while the provider is slow, callers could come and go.
        #expect(await #expect(throws: BrokerError.self) { try await caller.value }?.kind == .userCanceled)
        gate.open()
        await engine.drain()
        #expect(engine.cached(request) != nil)
    }

    @Test("no refresh begins after the last connection of a stopping broker was closed")
    func lateRefresh() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.clock.advance(bySeconds: 4000)
        await bed.engine.drain()
        await bed.engine.finish()
        let error = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(bed.silent()) }
        #expect(error?.kind == .serverUnavailable && error?.reason == .interrupted)
        #expect(bed.provider.refreshes.isEmpty)
    }

    @Test(
        "a dead refresh token is removed, and its error repeated for two minutes or until a sign-in"
    )
    func deadToken() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.clock.advance(bySeconds: 4000)
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            throw .refused(OAuthRefusal(error: "invalid_grant", status: 400))
        }
        func reason(_ scopes: [String] = ["mail.read"]) async -> ErrorReason? {
            let error = await #expect(throws: BrokerError.self) {
                try await bed.engine.acquireSilent(bed.silent(Sample.app(), scopes))
            }
            #expect(error?.kind == .interactionRequired)
            #expect(error?.details.accounts?.map(\.username) == ["alice"], "the account to sign in")
            return error?.reason
        }
        #expect(await reason() == .refreshTokenRevoked)
        #expect(await reason() == .refreshTokenRevoked)
        #expect(await reason(["calendar"]) == .refreshTokenRevoked)
        bed.clock.advance(bySeconds: 119)
        #expect(await reason() == .refreshTokenRevoked)
        bed.clock.advance(bySeconds: 1)
        #expect(await reason() == .noTokens)
        #expect(bed.provider.refreshes == ["rt-1"])
    }

    @Test("the reason for an ended sign-in is forgotten with the next sign-in")
    func deadTokenForgotten() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] grant throws(ProviderError) in
            guard case .authorizationCode = grant else {
                throw .refused(OAuthRefusal(error: "invalid_grant", status: 400))
            }
            var response = provider.tokens(for: "alice")
            response.refreshToken = nil
            return response
        }
        let forced = bed.silent { $0.forceRefresh = true }
        for reason in [ErrorReason.refreshTokenRevoked, .noTokens] {
            let error = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(forced) }
            #expect(error?.reason == reason)
            try await bed.signIn()
        }
    }

    @Test("a refresh that is refused after a new sign-in continues with the sign-in's refresh token")
    func signInDuringRefresh() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.clock.advance(bySeconds: 4000)
        let gate = Gate()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] grant async throws(ProviderError) in
            guard case .refreshToken(let spent, _) = grant else { return provider.tokens(for: "alice", expiresIn: 0) }
            guard spent.revealed() == "rt-1" else { return provider.tokens() }
            await gate.wait()
            throw .refused(OAuthRefusal(error: "invalid_grant", status: 400))
        }
        let (engine, request) = (bed.engine, bed.silent())
        let silent = Task { try await engine.acquireSilent(request) }
        try await bed.provider.waitForRefreshes()
        try await bed.signIn()
        gate.open()
        #expect(try await bed.text(silent.value) == "at-3")
        #expect(bed.provider.refreshes == ["rt-1", "rt-2"])
        // On disk as well as in memory.
        let restarted = try await bed.restarted()
        _ = try await restarted.acquireSilent(bed.silent { $0.forceRefresh = true })
        #expect(bed.provider.refreshes == ["rt-1", "rt-2", "rt-3"])
    }

    @Test("a caller that waited for a failed refresh gets the token of a sign-in made meanwhile")
    func signInAnswersRefresh() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.clock.advance(bySeconds: 4000)
        let gate = Gate()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] grant async throws(ProviderError) in
            guard case .refreshToken = grant else { return provider.tokens(for: "alice") }
            await gate.wait()
            throw .refused(OAuthRefusal(error: "invalid_grant", status: 400))
        }
        let (engine, request, forced) = (bed.engine, bed.silent(), bed.silent { $0.forceRefresh = true })
        let silent = Task { try await engine.acquireSilent(request) }
        try await bed.provider.waitForRefreshes()
        try await bed.signIn()
        gate.open()
        #expect(try await bed.text(silent.value) == "at-2")
        // A forced refresh does not want one from the cache.
        await #expect(throws: BrokerError.self) { try await engine.acquireSilent(forced) }
    }

    @Test("a token of five minutes is served for four, and while the provider is away until it expires")
    func shortLife() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            provider.tokens(for: "alice", expiresIn: 300)
        }
        try await bed.signIn()
        bed.clock.advance(bySeconds: 240)
        #expect(bed.engine.cached(bed.silent()) != nil)
        bed.clock.advance(bySeconds: 1)
        bed.provider.whenRedeeming { _ throws(ProviderError) in throw .offline("no route") }
        let token = try await bed.engine.acquireSilent(bed.silent())
        #expect(token.fromCache && !token.extendedLifetime)
        #expect(try bed.text(token) == "at-1")
        for asksForMore in [bed.silent { $0.minimumLifetime = 60 }, bed.silent { $0.forceRefresh = true }] {
            await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(asksForMore) }
        }
        bed.clock.advance(bySeconds: 59)
        await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(bed.silent()) }
    }

    @Test("a token without an expiry and a refresh token is served until it is reported as rejected")
    func unknownEnd() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            var response = provider.tokens(for: "alice")
            (response.expiresIn, response.refreshToken) = (nil, nil)
            return response
        }
        let token = try await bed.signIn()
        #expect(token.token.record.expiresOn == TokenEnd.unknown && !token.renewable)
        bed.clock.advance(bySeconds: 400 * 86_400)
        #expect(try await bed.engine.acquireSilent(bed.silent()).fromCache)
        let rejected = bed.silent { $0.rejectedToken = Secret("at-1") }
        let error = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(rejected) }
        #expect(error?.kind == .interactionRequired && error?.reason == .noTokens)
    }

    @Test(
        "a scope granted under another spelling is not declined, and answers the same request again",
        arguments: [
            ("https://login.microsoftonline.com/common", "https://graph.microsoft.com/Mail.Read", "Mail.Read"),
            ("https://login.microsoftonline.com/common", "Mail.Read", "https://graph.microsoft.com/Mail.Read"),
            ("https://login.microsoftonline.com/common", "https://r.example//Do", "https://R.example/do"),
            ("https://id.example.org", "repo", "gist,repo"),
        ])
    func otherSpelling(authority: String, asked: String, granted: String) async throws {
        let (bed, app) = (try await EngineBed(), Sample.app(at: Sample.authority(authority)))
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            provider.tokens(for: "alice", scope: "openid \(granted)")
        }
        let token = try await bed.signIn("alice", app, [asked])
        #expect(token.token.record.scopes.contains(asked))
        #expect(try await bed.engine.acquireSilent(bed.silent(app, [asked])).fromCache)
        let renewed = try await bed.engine.acquireSilent(bed.silent(app, [asked]) { $0.forceRefresh = true })
        #expect(renewed.token.record.scopes.contains(asked))
        #expect(try await bed.engine.acquireSilent(bed.silent(app, [asked])).fromCache)
    }

    @Test("records of a dead sign-in are removed by a new sign-in, not before")
    func endedSignIn() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice", Sample.app(), ["mail.read"])
        try await bed.signIn("alice", Sample.app(), ["files"])
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            throw .refused(OAuthRefusal(error: "invalid_grant", status: 400))
        }
        await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireSilent(bed.silent(Sample.app(), ["files"]) { $0.forceRefresh = true })
        }
        #expect(try bed.text(try await bed.engine.acquireSilent(bed.silent())) == "at-1")
        bed.provider.whenRedeeming(nil)
        try await bed.signIn("alice", Sample.app(), ["files"])
        #expect(try bed.text(try await bed.engine.acquireSilent(bed.silent(Sample.app(), ["files"]))) == "at-3")
        let error = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(bed.silent()) }
        #expect(error?.reason == .scopesNotGranted)
    }

    @Test("a token without expires_in is served until five minutes before an hour is over")
    func noExpiry() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] grant in
            var response = provider.tokens(for: "alice")
            response.expiresIn = nil
            return response
        }
        try await bed.signIn()
        bed.clock.advance(bySeconds: 3300)
        #expect(bed.engine.cached(bed.silent())?.token.record.expiresOn == Sample.now + 3600)
        bed.clock.advance(bySeconds: 1)
        #expect(bed.engine.cached(bed.silent()) == nil)
    }

    @Test(
        "network and provider problems do not need the person, and the refresh token stays",
        arguments: [
            (ProviderError.offline("no route"), ErrorKind.offline), (.untrusted("self-signed"), .offline),
            (.outcomeUnknown("timed out"), .serverUnavailable),
            (.unavailable(status: 503, retryAfter: 7, "busy"), .serverUnavailable),
            (.invalidResponse(status: 200, "HTML"), .invalidResponse),
        ])
    func trouble(error: ProviderError, kind: ErrorKind) async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.clock.advance(bySeconds: 4000)
        bed.provider.whenRedeeming { _ throws(ProviderError) in throw error }
        let told = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(bed.silent()) }
        #expect(told?.kind == kind)
        bed.provider.whenRedeeming(nil)
        if case .unavailable = error {
            #expect(told?.details.retryAfter == 7)
            bed.clock.advance(bySeconds: 7)
        }
        _ = try await bed.engine.acquireSilent(bed.silent())
        #expect(bed.provider.refreshes == ["rt-1", "rt-1"])
    }

    @Test("scopes that were never granted need the person, and the provider is not asked for them")
    func neverGranted() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice", Sample.app(), ["mail.read", "email"])
        let error = await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireSilent(bed.silent(Sample.app(), ["mail.read", "calendar", "email"]))
        }
        #expect(error?.kind == .interactionRequired)
        #expect(error?.reason == .scopesNotGranted)
        #expect(error?.details.declinedScopes == ["calendar"])
        #expect(error?.details.accounts?.map(\.username) == ["alice"])
        #expect(bed.provider.refreshes.isEmpty)
    }

    @Test("an essential acr that a refresh does not bring needs the person, and the rotated token is kept")
    func essentialContext() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        let claims = #"{"id_token":{"acr":{"essential":true,"values":["phr"]}}}"#
        for (acr, user) in [("pwd", "alice"), ("phr", nil), ("phr", "alice")] as [(JSONValue, String?)] {
            bed.provider.say { $0["acr"] = acr }
            bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in provider.tokens(for: user) }
            let silent = bed.silent { $0.claims = claims }
            if acr == "phr", user != nil {
                #expect(try await bed.engine.acquireSilent(silent).fromCache == false)
            } else {
                let error = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(silent) }
                #expect(error?.kind == .interactionRequired)
                #expect(error?.reason == .claimsChallenge)
            }
        }
        #expect(bed.provider.refreshes == ["rt-1", "rt-2", "rt-3"])
    }

    @Test("granted scopes that the response lacks need the person, and the received token is cached")
    func narrower() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice", Sample.app(), ["mail.read", "calendar"])
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in provider.tokens(scope: "mail.read") }
        let error = await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireSilent(
                bed.silent(Sample.app(), ["mail.read", "calendar"]) { $0.forceRefresh = true })
        }
        #expect(error?.kind == .interactionRequired)
        #expect(error?.reason == .scopesNotGranted)
        #expect(error?.details.declinedScopes == ["calendar"])
        #expect(try bed.text(try #require(bed.engine.cached(bed.silent()))) == "at-2")
    }

    @Test(
        "another person's ID token in a refresh is refused, but the rotated token is kept",
        arguments: [nil, #"{"id_token":{"acr":{"essential":true,"value":"gold"}}}"#])
    func otherPersonOnRefresh(claims: String?) async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.clock.advance(bySeconds: 4000)
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in provider.tokens(for: "bob") }
        let request = bed.silent { $0.claims = claims }
        let error = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(request) }
        #expect(error?.kind == .invalidResponse)
        bed.provider.whenRedeeming(nil)
        _ = try await bed.engine.acquireSilent(bed.silent())
        #expect(bed.provider.refreshes == ["rt-1", "rt-2"])
    }

    @Test("a reserved scope is refused before any lookup")
    func reserved() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        #expect(bed.engine.cached(bed.silent(Sample.app(), ["openid"])) == nil)
        let error = await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireSilent(bed.silent(Sample.app(), ["openid"]))
        }
        #expect(error?.kind == .invalidParameter)
    }
}

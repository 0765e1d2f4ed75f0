import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// Decision 14. The double answers a proof with a bearer token unless it is set to bind tokens.
@Suite("Refresh tokens bound to a key, with bearer access tokens")
struct BoundRefreshTokenTests {
    private static func bed() async throws -> EngineBed {
        let bed = try await EngineBed()
        bed.provider.offer { $0.dpopAlgorithms = ["ES256"] }
        return bed
    }

    private static func app(_ binds: Bool? = true) -> AppRegistration {
        var app = Sample.app()
        app.description.bindRefreshToken = binds
        return app
    }

    private func refresh(
        _ bed: EngineBed, _ engine: TokenBroker? = nil, app: AppRegistration = app(), type: TokenType = .bearer
    ) async throws -> AcquiredToken {
        try await (engine ?? bed.engine).acquireSilent(
            bed.silent(app) {
                $0.tokenType = type
                $0.forceRefresh = true
            })
    }

    private func keys(_ bed: EngineBed) -> [String?] { bed.provider.extras.map { $0.proofKey?.thumbprint } }

    @Test("one key is proven at the sign-in and at each refresh, also after a restart")
    func oneKey() async throws {
        let bed = try await Self.bed()
        let first = try await bed.signIn("alice", Self.app())
        #expect(first.token.record.tokenType == .bearer)
        #expect(first.token.record.keyThumbprint == nil)
        #expect(bed.provider.authorizations.first?.proofKeyThumbprint == keys(bed)[0])
        _ = try await refresh(bed)
        let third = try await refresh(bed, try await bed.restarted())
        #expect(third.token.record.tokenType == .bearer)
        #expect(bed.provider.refreshes == ["rt-1", "rt-2"])
        #expect(keys(bed).count == 3)
        #expect(Set(keys(bed)).count == 1)
        #expect(keys(bed)[0] != nil)
    }

    @Test("binding is the default only at providers known for it that offer an algorithm", arguments: [true, false])
    func byDefault(isKnown: Bool) async throws {
        let bed = try await EngineBed()
        bed.provider.offer { $0.bindsRefreshTokens = isKnown }
        _ = try await bed.signIn("alice", Self.app(nil))
        #expect(keys(bed) == [nil], "no algorithm")
        bed.provider.offer {
            $0.dpopAlgorithms = ["ES256"]
            $0.bindsRefreshTokens = isKnown
        }
        _ = try await bed.signIn("bob", Self.app(nil))
        #expect((keys(bed)[1] != nil) == isKnown)
        _ = try await bed.signIn("carol", Self.app(false))
        #expect(keys(bed)[2] == nil)
    }

    @Test("an app that requires binding gets an error if it is impossible, and no code is spent")
    func notOffered() async throws {
        let bed = try await EngineBed()
        let refusal = await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireInteractive(bed.interactive(Self.app())) { _ in }
        }
        #expect(refusal?.kind == .unsupported)
        #expect(refusal?.message.contains("bindRefreshToken") == true)
        #expect(bed.provider.grants.isEmpty)
    }

    @Test("a bound refresh token is proven whatever the registration says now, and an unbound one never")
    func settingChanges() async throws {
        let bed = try await Self.bed()
        _ = try await bed.signIn("alice", Self.app())
        _ = try await refresh(bed, app: Self.app(false))
        #expect(Set(keys(bed)).count == 1)
        _ = try await bed.signIn("alice", Self.app(false))
        _ = try await refresh(bed)
        #expect(keys(bed)[2...] == [nil, nil], "the newer sign-in's token is redeemed, which is unbound")
        #expect(bed.provider.refreshes == ["rt-1", "rt-3"])
        _ = try await bed.signIn("alice", Self.app())
        _ = try await refresh(bed)
        #expect(bed.provider.refreshes == ["rt-1", "rt-3", "rt-5"])
        #expect(keys(bed)[5] != nil)
    }

    @Test("an app that asks for DPoP gets no bearer token, and its sign-in survives the refresh (decision 14)")
    func askedForDPoP() async throws {
        let bed = try await Self.bed()
        _ = try await bed.signIn("alice", Self.app())
        let refusal = await #expect(throws: BrokerError.self) { try await refresh(bed, type: .dpop) }
        #expect(refusal?.kind == .unsupported)
        _ = try await refresh(bed)
        #expect(bed.provider.refreshes == ["rt-1", "rt-2"])
        #expect(Set(keys(bed)).count == 1)
    }

    @Test("a provider that also binds access tokens is refused, because the app could not use them")
    func bindsEverything() async throws {
        let bed = try await Self.bed()
        bed.provider.bindTokens()
        let (browser, signIn) = bed.begin(bed.interactive(Self.app()))
        _ = try await bed.redirects.visit(browser.opening(), code: "alice")
        let refusal = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(refusal?.kind == .unsupported)
        #expect(refusal?.message.contains("bindRefreshToken") == true)
    }

    @Test("a confidential client's refresh token is bound too, because such providers give desktop apps a secret")
    func confidential() async throws {
        let bed = try await Self.bed()
        var app = Self.app()
        app.clientSecret = Secret("s")
        _ = try await bed.signIn("alice", app)
        _ = try await refresh(bed, app: app)
        #expect(Set(keys(bed)).count == 1)
        #expect(keys(bed)[0] != nil)
    }
}

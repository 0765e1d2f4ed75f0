import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Scopes and resources of a sign-in")
struct SignInScopeFlowTests {
    @Test("a provider that publishes no offline_access is not asked for it")
    func noOfflineAccess() async throws {
        let bed = try await EngineBed()
        bed.provider.offer { $0.scopesSupported = ["openid", "profile", "mail.read"] }
        try await bed.signIn()
        #expect(bed.provider.authorizations.last?.scopes == Scopes(["openid", "profile", "mail.read"]))
        _ = try await bed.engine.acquireSilent(bed.silent { $0.forceRefresh = true })
        #expect(bed.provider.lastRefreshScopes == Scopes(["openid", "profile", "mail.read"]))
    }

    @Test("a later request for more scopes asks only for those, and the earlier token stays")
    func incrementalConsent() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice", Sample.app(), ["mail.read"])
        try await bed.signIn("alice", Sample.app(), ["calendar"])
        let sent = try #require(bed.provider.authorizations.last)
        #expect(sent.prompt == nil)
        #expect(sent.scopes == Scopes(["openid", "profile", "offline_access", "calendar"]))
        #expect(try bed.text(try #require(bed.engine.cached(bed.silent(Sample.app(), ["mail.read"])))) == "at-1")
        #expect(try bed.text(try #require(bed.engine.cached(bed.silent(Sample.app(), ["calendar"])))) == "at-2")
    }

    /// A sign-in for `mail.read` that also asks for consent to `files`. The provider does not name what it grants.
    private func consent(_ bed: EngineBed, _ app: AppRegistration = Sample.app()) async throws {
        try await bed.signIn(
            "alice", bed.interactive(app, ["mail.read"]) { $0.extraScopesToConsent = Scopes(["files"]) })
    }

    @Test("extra scopes count as granted if the provider names none, also against a caller's limit")
    func extraScopes() async throws {
        let bed = try await EngineBed()
        try await consent(bed)
        #expect(bed.engine.cached(bed.silent(Sample.app(), ["files"])) != nil)
        let limit = Scopes.reserved.union(Scopes(["mail.read"]))
        #expect(bed.engine.cached(bed.silent { $0.ceiling = limit }) == nil)
    }

    @Test("extra scopes are in no token where grants follow consent")
    func extraScopesAtEntra() async throws {
        let bed = try await EngineBed()
        let app = Sample.app(at: Sample.authority("https://login.microsoftonline.com/common"))
        try await consent(bed, app)
        #expect(bed.engine.cached(bed.silent(app)) != nil)
        #expect(bed.engine.cached(bed.silent(app, ["files"])) == nil)
    }

    @Test("a .default accepts any scopes, and is answered from the cache afterwards")
    func defaultScope() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            provider.tokens(for: "alice", scope: "openid https://api.example/read")
        }
        try await bed.signIn("alice", Sample.app(), ["https://api.example//.default"])
        #expect(bed.provider.authorizations.last?.scopes.parameter.hasSuffix(" https://api.example//.default") == true)
        let cached = try #require(bed.engine.cached(bed.silent(Sample.app(), ["https://api.example//.default"])))
        #expect(try bed.text(cached) == "at-1")
    }

    @Test("a token for another resource is separate, also after a restart")
    func resources() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice")
        let narrow = try await bed.signIn(
            "alice", bed.interactive(Sample.app(), ["mail.read"]) { $0.resources = ["https://api.example"] })
        #expect(try bed.text(narrow) == "at-2")
        let restarted = try await bed.restarted()
        let plain = try await restarted.acquireSilent(bed.silent())
        #expect(plain.token.record.resources == nil)
        let bound = try await restarted.acquireSilent(
            bed.silent(Sample.app(), ["mail.read"]) { $0.resources = ["https://api.example"] })
        #expect(bound.token.record.resources == ["https://api.example"])
        #expect(plain.fromCache && bound.fromCache)
        #expect(bed.provider.refreshes.isEmpty)
    }
}

import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// Each response of this provider names new scopes.
@Suite("A provider with an unbounded list of scopes")
struct ManyScopesTests {
    private func answer(
        _ provider: ProviderDouble, _ round: Int, for user: String? = nil, asked: String = ""
    ) -> TokenResponse {
        let others = (0..<40_000).map { "s\(round)-\($0)" }.joined(separator: " ")
        return provider.tokens(for: user, scope: "openid \(others) \(asked)")
    }

    @Test(
        "refreshes do not make the records grow, and the requested scopes are still found"
    )
    func bounded() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] grant in
            if case .refreshToken = grant { return answer(provider, provider.grants.count, asked: "Mail.Read") }
            return answer(provider, 0, for: "alice", asked: "mail.read")
        }
        try await bed.signIn()
        for _ in 1...12 {
            let fresh = try await bed.engine.acquireSilent(bed.silent { $0.forceRefresh = true })
            #expect(fresh.persisted && fresh.token.record.scopes.count <= 256)
            #expect(fresh.token.record.scopes.contains("Mail.Read") && fresh.token.record.isGoodForMore == true)
        }
        #expect(bed.engine.cached(bed.silent()) != nil)
        let token = try #require(
            try bed.vault.loadAll(RefreshTokenRecord.self, in: Sample.partition).first { $0.record.familyID == nil })
        #expect(try bed.vault.secret(of: token.sealed).revealed() == "rt-13")
        #expect(token.record.scopes.count <= 256 && token.sealed.box.count < 64 << 10)
    }

    @Test("a refresh may ask for granted scopes beyond those kept, without a new sign-in")
    func beyond() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] grant in
            if case .refreshToken = grant { return provider.tokens(scope: "openid s0-39999") }
            return answer(provider, 0, for: "alice", asked: "mail.read")
        }
        try await bed.signIn()
        let token = try await bed.engine.acquireSilent(bed.silent(Sample.app(), ["s0-39999"]))
        #expect(token.token.record.scopes == ["openid", "s0-39999"] && token.token.record.isGoodForMore == nil)
    }

    @Test("a caller limited to some scopes never gets a token that may be good for more")
    func ceiling() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            answer(provider, 0, for: "alice", asked: "mail.read")
        }
        let token = try await bed.signIn()
        #expect(bed.engine.cached(bed.silent()) != nil)
        #expect(bed.engine.cached(bed.silent { $0.ceiling = Scopes(token.token.record.scopes) }) == nil)
    }

    @Test("one scope that exceeds the limit by itself is left out, and nothing else")
    func longOne() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            provider.tokens(for: "alice", scope: String(repeating: "x", count: 900_000) + " mail.read other")
        }
        let token = try await bed.signIn()
        #expect(token.token.record.scopes == ["mail.read", "other"] && token.token.record.isGoodForMore == true)
    }
}

import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerTokenCache
import BrokerValues
import Testing

@Suite("Cache look-up")
struct CacheLookupTests {
    private func decide(
        _ scopes: [String], from tokens: CachedTokens, realm: String = "realm", now: NumericDate = Sample.now,
        minimumLifetime: Int64? = nil, bypass: Bool = false, type: TokenType = .bearer
    ) -> String {
        let question = CacheQuestion(
            scopes: Scopes(scopes), realm: realm, tokenType: type,
            rule: ExpiryRule(now: now, buffer: 300, minimumLifetime: minimumLifetime), bypassesCache: bypass)
        switch SilentDecision.decide(question, from: tokens) {
        case .cached(let token): return "cached " + token.record.scopes.joined(separator: "+")
        case .refresh: return "refresh"
        case .interact(let reason): return "interact \(reason.rawValue)"
        }
    }

    @Test("a token with at least the requested scopes answers, whatever their case, order and spacing")
    func subset() {
        let tokens = Sample.tokens([Sample.accessToken(scopes: ["Mail.Read", "Mail.Send", "openid"])])
        #expect(decide([" mail.SEND ", "MAIL.read"], from: tokens) == "cached Mail.Read+Mail.Send+openid")
        #expect(decide(["mail.read mail.send"], from: tokens) == "cached Mail.Read+Mail.Send+openid")
        #expect(decide([], from: tokens) == "cached Mail.Read+Mail.Send+openid")
    }

    @Test("a token that lacks one of the scopes does not answer")
    func notSubset() {
        let tokens = Sample.tokens([Sample.accessToken(scopes: ["mail.read"])])
        #expect(decide(["mail.read", "calendar"], from: tokens) == "refresh")
    }

    @Test("the realm must match exactly, and so must the token type")
    func realmAndType() {
        let tokens = Sample.tokens([Sample.accessToken(realm: "Realm")])
        #expect(decide(["mail.read"], from: tokens, realm: "realm") == "refresh")
        let bound = Sample.tokens([Sample.accessToken(type: .dpop)])
        #expect(decide(["mail.read"], from: bound) == "refresh")
    }

    @Test(
        "a token counts as expired 300 seconds before it is",
        arguments: [
            (301, "cached mail.read"), (300, "cached mail.read"), (299, "refresh"), (0, "refresh"), (-5, "refresh"),
        ])
    func buffer(expiresIn: Int, expected: String) {
        let tokens = Sample.tokens([
            Sample.accessToken(expiresIn: Int64(expiresIn), cachedAt: Sample.now + Int64(expiresIn) - 3600)
        ])
        #expect(decide(["mail.read"], from: tokens) == expected)
    }

    @Test("a minimum lifetime replaces the buffer, longer or shorter")
    func minimumLifetime() {
        let tokens = Sample.tokens([Sample.accessToken(expiresIn: 1000)])
        #expect(decide(["mail.read"], from: tokens, minimumLifetime: 1000) == "cached mail.read")
        #expect(decide(["mail.read"], from: tokens, minimumLifetime: 1001) == "refresh")
        let short = Sample.tokens([Sample.accessToken(expiresIn: 200, cachedAt: Sample.now - 3400)])
        #expect(decide(["mail.read"], from: short) == "refresh")
        #expect(decide(["mail.read"], from: short, minimumLifetime: 200) == "cached mail.read")
        #expect(decide(["mail.read"], from: short, minimumLifetime: 201) == "refresh")
        #expect(decide(["mail.read"], from: tokens, minimumLifetime: .max) == "refresh")
    }

    @Test("a token from the future is not trusted after the clock was set back")
    func clockWentBack() {
        let tokens = Sample.tokens([Sample.accessToken(expiresIn: 3600, cachedAt: Sample.now)])
        #expect(decide(["mail.read"], from: tokens, now: Sample.now - 1) == "refresh")
    }

    @Test("a forced refresh or a claims request bypasses the cached token")
    func bypass() {
        #expect(decide(["mail.read"], from: Sample.tokens([Sample.accessToken()]), bypass: true) == "refresh")
    }

    @Test("only the person can help without a refresh token")
    func nothingLeft() {
        #expect(decide(["mail.read"], from: Sample.tokens([], refreshToken: false)) == "interact noTokens")
    }

    @Test("a new token replaces only those of its realm and type that share a scope with it")
    func replacement() {
        let tokens = Sample.tokens([
            Sample.accessToken(scopes: ["a", "b"]), Sample.accessToken(scopes: ["c"]),
            Sample.accessToken(scopes: ["B"], realm: "other"), Sample.accessToken(scopes: ["b"], type: .dpop),
        ])
        let replaced = tokens.accessTokens(replacedBy: Sample.accessToken(scopes: ["B", "d"]))
        #expect(replaced.map(\.stored.record.scopes) == [["a", "b"]])
    }

    @Test("scopes that the broker adds to every request are not counted as shared")
    func reservedInCommon() {
        let tokens = Sample.tokens([
            Sample.accessToken(scopes: ["openid", "profile", "a"]), Sample.accessToken(scopes: ["openid", "profile"]),
        ])
        let forB = tokens.accessTokens(replacedBy: Sample.accessToken(scopes: ["openid", "profile", "b"]))
        #expect(forB.isEmpty)
        let plain = tokens.accessTokens(replacedBy: Sample.accessToken(scopes: ["openid"]))
        #expect(plain.map(\.stored.record.scopes) == [["openid", "profile"]])
    }
}

import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerTokenCache
import BrokerValues
import Testing

@Suite("Scopes and resources")
struct ScopeRuleTests {
    private func answers(
        _ scopes: [String], at resources: [String] = [], _ tokens: [AccessTokenRecord]
    ) -> [String]? {
        let question = CacheQuestion(
            scopes: Scopes(scopes), realm: "realm", resources: resources,
            rule: ExpiryRule(now: Sample.now, buffer: 300))
        if case .cached(let token) = SilentDecision.decide(question, from: Sample.tokens(tokens)) {
            return token.record.resources ?? []
        }
        return nil
    }

    @Test(
        "a .default is the end of a scope, after one slash or two, in any case",
        arguments: [
            ("https://graph.example/.default", true), ("https://vault.example//.default", true), (".default", true),
            ("api://id/.DEFAULT", true), ("https://graph.example/x.default", false), ("default", false),
            ("https://graph.example/.default/x", false),
        ])
    func isDefault(scope: String, expected: Bool) { #expect(ScopeRules.isDefault(scope) == expected) }

    @Test("the scopes returned for a .default count as granted and answer the next such request")
    func defaultScope() {
        let asked = Scopes(["https://vault.example//.default"])
        let granted = Scopes(["https://vault.example/user_impersonation"] + ScopeRules.defaults(of: asked))
        #expect(
            granted == Scopes(["https://vault.example/user_impersonation", "https://vault.example//.default"]))
        #expect(ScopeRules.declined(asked: asked, granted: granted).isEmpty)
        let token = Sample.accessToken(scopes: granted.asGiven)
        #expect(answers(["https://vault.example//.default"], [token]) == [])
        #expect(answers(["https://vault.example/user_impersonation"], [token]) == [])
        #expect(answers(["https://other.example/.default"], [token]) == nil)
        #expect(answers([".default"], [token]) == nil)
    }

    @Test("a refresh is limited to the granted scopes if those are known and matter")
    func whatARefreshMayAsk() {
        func may(
            _ asked: [String], granted: [String] = ["openid", "read"], at resources: [String] = [],
            _ kind: ProviderKind = .generic
        ) -> Bool {
            ScopeRules.mayRefresh(
                Scopes(asked), resources: resources, spending: Sample.refreshToken(granted), at: kind)
        }
        #expect(may(["READ", "email"]))
        #expect(may([]))
        #expect(!may(["read", "write"]))
        #expect(may(["https://api.example/.default"]), "no provider grants it by this name")
        #expect(may(["write"], at: ["https://api.example"]), "the grant may be for several resources")
        #expect(may(["write"], granted: []), "imported without its scopes")
        #expect(may(["write"], .entra), "its refresh tokens are good for all scopes with consent")
    }

    @Test("a token for a .default is renewed by that alone, and any other by all its scopes")
    func renewal() {
        let asked = ScopeRules.toRenew(
            Sample.accessToken(scopes: ["openid", "https://a.example/x", "https://a.example/.default"]))
        #expect(asked == Scopes(["https://a.example/.default"]))
        #expect(ScopeRules.toRenew(Sample.accessToken(scopes: ["openid", "a", "b"])) == Scopes(["a", "b"]))
    }

    @Test("a token for one resource does not answer for another or for none, whatever its scopes")
    func resources() {
        let tokens = [
            Sample.accessToken(scopes: ["read"], resources: ["https://a.example"]),
            Sample.accessToken(scopes: ["read"], resources: ["https://a.example", "https://b.example"]),
        ]
        #expect(answers(["read"], at: ["https://a.example"], tokens) == ["https://a.example"])
        #expect(
            answers(["read"], at: ["https://b.example", "https://a.example", "https://b.example"], tokens)
                == ["https://a.example", "https://b.example"])
        #expect(answers(["read"], at: ["https://b.example"], tokens) == nil)
        #expect(answers(["read"], at: ["https://A.example"], tokens) == nil)
        #expect(answers(["read"], tokens) == nil)
        #expect(answers(["read"], at: ["https://a.example"], [Sample.accessToken(scopes: ["read"])]) == nil)
    }

    @Test("a new token replaces none of another resource, and they coexist")
    func replacement() {
        let a = Sample.accessToken(scopes: ["read"], resources: ["https://a.example"])
        let b = Sample.accessToken(scopes: ["read"], resources: ["https://b.example"])
        let none = Sample.accessToken(scopes: ["read"])
        #expect(Set([a.key.item, b.key.item, none.key.item]).count == 3)
        let replaced = Sample.tokens([a, b, none]).accessTokens(replacedBy: b)
        #expect(replaced.map(\.stored.record.resources) == [["https://b.example"]])
    }
}

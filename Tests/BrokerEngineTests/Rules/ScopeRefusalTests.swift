import BrokerEngine
import BrokerModel
import BrokerTestSupport
import Testing

@Suite("A refresh that is refused for its scopes")
struct ScopeRefusalTests {
    private static let granted = ["openid", "read", "write"]

    private func meaning(
        asked: [String], sent: [String]? = nil, narrowedTo: [String]? = nil, at kind: ProviderKind = .generic
    ) -> ScopeRefusal {
        var token = Sample.refreshToken(Self.granted)
        token.narrowedTo = narrowedTo
        return ScopeRefusal(
            asked: Scopes(asked), sent: Scopes(sent ?? ["openid"] + asked), spending: token, at: kind)
    }

    @Test("for a scope that was never granted needs the person")
    func notGranted() { #expect(meaning(asked: ["read", "share"]) == .notGranted) }

    @Test("for a granted scope means that the scope does not exist")
    func unknown() {
        #expect(meaning(asked: ["read"]) == .unknown)
        #expect(meaning(asked: ["READ"], narrowedTo: ["openid", "read"]) == .unknown)
    }

    @Test("for a granted scope that the last refresh left out means that the provider narrows grants")
    func narrowed() { #expect(meaning(asked: ["write"], narrowedTo: ["openid", "read"]) == .narrowed) }

    @Test("ignores email, which providers grant without saying so")
    func email() {
        #expect(meaning(asked: ["read", "email"]) == .unknown)
        #expect(meaning(asked: ["write", "email"], narrowedTo: ["openid", "read"]) == .narrowed)
        #expect(meaning(asked: ["share", "email"]) == .notGranted)
    }

    @Test("for the whole grant, when the app asked for part of it, is not the app's mistake")
    func inFull() { #expect(meaning(asked: ["read"], sent: Self.granted) == .notGranted) }

    @Test(
        "at Entra is always the developer's mistake, because missing consent has other codes there",
        arguments: [ProviderKind.entra, .ciam, .b2c])
    func entra(kind: ProviderKind) {
        #expect(meaning(asked: ["share"], at: kind) == .unknown)
        #expect(meaning(asked: ["write"], narrowedTo: ["read"], at: kind) == .unknown)
    }

    @Test("records the requested scopes of a successor if they were less than the grant")
    func narrowing() {
        let token = Sample.refreshToken(Self.granted)
        #expect(ScopeRules.narrowing(of: token, by: Scopes(["openid", "read"])) == ["openid", "read"])
        #expect(ScopeRules.narrowing(of: token, by: Scopes(Self.granted + ["share"])) == nil)
    }
}

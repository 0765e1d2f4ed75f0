import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("offline_access as the registration says")
struct OfflineAccessSettingTests {
    private static func app(_ setting: Bool?) -> AppRegistration {
        var app = Sample.app()
        app.description.offlineAccess = setting
        return app
    }

    @Test("overrides the provider's metadata and its built-in table")
    func comesFirst() async throws {
        let bed = try await EngineBed()
        bed.provider.offer { $0.scopesSupported = ["openid"] }
        for setting in [nil, true, false] { _ = try await bed.signIn("alice", Self.app(setting)) }
        #expect(bed.asksOffline == [false, true, false])
        bed.provider.offer { $0.takesOfflineAccess = true }
        for setting in [nil, true, false] { _ = try await bed.signIn("alice", Self.app(setting)) }
        #expect(bed.asksOffline[3...] == [true, true, false])
        bed.provider.offer { $0.takesOfflineAccess = false }
        for setting in [nil, true, false] { _ = try await bed.signIn("alice", Self.app(setting)) }
        #expect(bed.asksOffline[6...] == [false, true, false])
    }

    @Test("is always sent if set so, and a refusal ends the sign-in")
    func refused() async throws {
        let bed = try await EngineBed()
        let (browser, signIn) = bed.begin(bed.interactive(Self.app(true)))
        let opening = try await browser.opening()
        _ = await bed.redirects.visit(opening.redirectURI, query: "error=invalid_scope&state=\(opening.state)")
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.details.oauthError == "invalid_scope")
        #expect(bed.asksOffline == [true])
    }
}

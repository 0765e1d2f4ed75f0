import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("django-oauth-toolkit: signing out, and asking for less", .serialized, .timeLimit(.minutes(3)))
struct DjangoSignOutTests {
    @Test("with revoke, a public client's refresh token is worth nothing, not even from a backup")
    func revocation() async throws {
        try await withTestBed { bed in
            let scene = try await DjangoTests.Scene.make(in: bed) { $0.grace = 600 }
            _ = try await scene.signIn(in: bed)
            // Its discovery document is silent about revocation; the administrator says where it is.
            let (issuer, endpoint) = (scene.provider.authority, "\(scene.provider.authority)/revoke_token/")
            let (broker, copy) = try await scene.broker.twice(
                in: bed, configuration: "[provider.\"\(issuer)\"]\nrevocation_endpoint = \"\(endpoint)\"\n")

            let stages = try await broker.signOut(app: "notes", ["revoke": true])
            #expect(stages.text("stages.revocation") == "done", "\(stages)")
            #expect(scene.provider.requestCount("POST", "/o/revoke_token/") == 1)
            await expectRefusal("interactionRequired", reason: "refreshTokenRevoked") {
                try await copy.acquireSilent(app: "notes", ["forceRefresh": true])
            }
        }
    }

    @Test("the browser's session ends on the provider's page, which comes back to whatever port is free")
    func browser() async throws {
        try await withTestBed { bed in
            let scene = try await DjangoTests.Scene.make(in: bed)
            let provider = scene.provider
            let session = HTTPSession(in: bed)
            // Only for people who are signed in; others are sent to the login page.
            let ownPage = "\(provider.authority)/applications/"
            _ = try await scene.broker.signIn(app: "notes", in: bed) {
                try await provider.signIn(.alice, at: $0, session: session)
            }
            let stages = try await scene.broker.signOut(app: "notes", ["fromBrowser": true]) { opening in
                let url = opening.text("url")
                #expect(try await session.get(ownPage).status == 200)
                #expect(url.hasPrefix("\(provider.authority)/logout/?"))
                #expect(query(of: url)["post_logout_redirect_uri"] == opening.text("redirectUri"))
                let page = try await session.get(provider.signOut(at: url, session: session).url)
                #expect(page.text.localizedCaseInsensitiveContains("signed out"))
            }
            #expect(stages.text("stages.browser") == "done", "\(stages)")
            #expect(try await session.get(ownPage).header("location")?.contains("/login/") == true)
        }
    }

    @Test("a refresh that asks for less brings a token for less; for more again, the provider wants the person")
    func downScoping() async throws {
        try await withTestBed { bed in
            let scene = try await DjangoTests.Scene.make(in: bed)
            let (broker, provider) = (scene.broker, scene.provider)
            let wide = try await broker.signIn(app: "notes", scopes: ["api", "email"], in: bed) {
                try await provider.signIn(.alice, at: $0)
            }
            #expect(Self.scopes(wide.token).isSuperset(of: ["api", "email"]))
            let narrow = try await broker.acquireSilent(app: "notes", scopes: ["email"], ["forceRefresh": true])
            #expect(Self.scopes(narrow).contains("email"))
            #expect(!Self.scopes(narrow).contains("api"))
            // The new refresh token is good for no more than the narrow access token (against RFC 6749, section 6).
            await #expect(throws: Refusal.self) {
                try await broker.acquireSilent(app: "notes", scopes: ["api"], ["forceRefresh": true])
            }
            let again = try await broker.signIn(app: "notes", scopes: ["api", "email"], in: bed) {
                try await provider.signIn(.alice, at: $0)
            }
            #expect(Self.scopes(again.token).isSuperset(of: ["api", "email"]))
        }
    }

    private static func scopes(_ token: JSONObject) -> Set<String> {
        Set(token[path: "scopes"].arrayValue?.compactMap(\.stringValue) ?? [])
    }
}

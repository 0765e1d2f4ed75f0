import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("django-oauth-toolkit: signing out, and narrower requests", .serialized)
struct DjangoSignOutTests {
    @Test("with revoke, a public client's refresh token is invalid, also one from a backup")
    func revocation() async throws {
        try await withTestBed { bed in
            let scene = try await DjangoTests.Scene.make(in: bed) { $0.grace = 600 }
            _ = try await scene.signIn(in: bed)
            // Its discovery document does not contain revocation; the administrator configures it.
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

    @Test("the browser's session ends on the provider's page, which redirects to any free port")
    func browser() async throws {
        try await withTestBed { bed in
            let scene = try await DjangoTests.Scene.make(in: bed)
            let provider = scene.provider
            let session = HTTPSession(in: bed)
            // Only for signed-in people; others are sent to the login page.
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

    @Test("a refresh for fewer scopes brings a narrower token, and one for more again needs the person")
    func downScoping() async throws {
        try await withTestBed { bed in
            let scene = try await DjangoTests.Scene.make(in: bed)
            let (broker, provider) = (scene.broker, scene.provider)
            let wide = try await broker.signIn(app: "notes", scopes: ["api", "email"], in: bed) {
                try await provider.signIn(.alice, at: $0)
            }
            #expect(Self.scopes(wide.token).isSuperset(of: ["api", "email"]))
            #expect(try await scene.takes(wide.token, in: bed))
            let narrow = try await broker.acquireSilent(app: "notes", scopes: ["email"], ["forceRefresh": true])
            #expect(Self.scopes(narrow).contains("email"))
            #expect(!Self.scopes(narrow).contains("api"))

            // The wide token is not in the cache any more: it shares a scope with the narrow one, and the caller of a forced
            // refresh would receive it again. Here it would be invalid: this provider ends it with the refresh.
            #expect(try await scene.takes(narrow, in: bed))
            #expect(try await !scene.takes(wide.token, in: bed))
            // So the provider is asked, and its new refresh token has no more scopes than the narrow access token
            // (against RFC 6749, section 6). The person granted it once and can be asked again.
            let refusal = await expectRefusal("interactionRequired", reason: "scopesNotGranted") {
                try await broker.acquireSilent(app: "notes", scopes: ["api"])
            }
            #expect(refusal?.data["oauthError"] == "invalid_scope")
            // The app requests its current scopes; the person's earlier grant must not be lost by that.
            let again = try await broker.signIn(app: "notes", scopes: ["api"], in: bed) {
                try await provider.signIn(.alice, at: $0)
            }
            #expect(Self.scopes(again.token).isSuperset(of: ["api", "email"]))

            // It happens once: the broker now requests the whole grant here, and no further sign-in is needed.
            let whole = try await broker.acquireSilent(app: "notes", scopes: ["email"], ["forceRefresh": true])
            #expect(Self.scopes(whole).isSuperset(of: ["api", "email"]))
            let served = try await broker.acquireSilent(app: "notes", scopes: ["api"])
            #expect(served[path: "accessToken"] == whole[path: "accessToken"])
            #expect(try await scene.takes(served, in: bed))
        }
    }

    @Test("a forced refresh for one scope keeps the cached token of another, which the provider still accepts")
    func tokensApart() async throws {
        try await withTestBed { bed in
            let scene = try await DjangoTests.Scene.make(in: bed)
            let (broker, provider, session) = (scene.broker, scene.provider, HTTPSession(in: bed))
            // Both contain openid and so on, which the broker adds: these do not count as scopes in common (decision 17).
            var signedIn: [SignIn] = []
            for scope in ["api", "email"] {
                signedIn.append(
                    try await broker.signIn(app: "notes", scopes: [scope], in: bed) {
                        try await provider.signIn(.alice, at: $0, session: session)
                    })
            }
            let asked = provider.tokenRequests
            let fresh = try await broker.acquireSilent(app: "notes", scopes: ["email"], ["forceRefresh": true])
            #expect(fresh[path: "fromCache"] == false)
            let other = try await broker.acquireSilent(app: "notes", scopes: ["api"])
            #expect(other[path: "fromCache"] == true)
            #expect(other[path: "accessToken"] == .string(signedIn[0].accessToken))
            #expect(provider.tokenRequests == asked + 1)
            #expect(try await scene.takes(other, in: bed))
        }
    }

    @Test("unknown scopes are refused silently and interactively, the second time permanently")
    func unknownScope() async throws {
        try await withTestBed { bed in
            let scene = try await DjangoTests.Scene.make(in: bed)
            let provider = scene.provider
            _ = try await scene.signIn(in: bed)
            await expectRefusal("interactionRequired", reason: "scopesNotGranted") {
                try await scene.broker.acquireSilent(app: "notes", scopes: ["apo"])
            }
            await expectRefusal("invalidScope") {
                try await scene.broker.signIn(app: "notes", scopes: ["apo"], in: bed) {
                    try await provider.signIn(.alice, at: $0)
                }
            }
        }
    }

    private static func scopes(_ token: JSONObject) -> Set<String> {
        Set(token[path: "scopes"].arrayValue?.compactMap(\.stringValue) ?? [])
    }
}

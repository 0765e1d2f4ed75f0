import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// A provider that publishes its scopes without `offline_access`, compares redirect URIs exactly, and sends
/// `iss` in each response.
@Suite("Canaille", .serialized)
struct CanailleTests {
    private struct Scene {
        var provider: CanailleProvider
        var broker: BrokerProcess

        static func make(in bed: TestBed, secret: Bool = false) async throws -> Scene {
            let provider = try await CanailleProvider.start(in: bed)
            let broker = try await BrokerProcess.start(in: bed)
            var more: JSONObject = ["redirectUri": .string(provider.redirectURI)]
            if secret { more["clientSecret"] = .string(provider.clientSecret) }
            _ = try await broker.register(
                "notes", clientID: secret ? provider.confidentialClientID : provider.clientID,
                authority: provider.authority, more)
            return Scene(provider: provider, broker: broker)
        }

        func signIn(
            _ person: Person = .alice, consents: Bool = true, session: HTTPSession? = nil, _ more: JSONObject = [:],
            in bed: TestBed
        ) async throws -> SignIn {
            let provider = provider
            return try await broker.signIn(app: "notes", scopes: ["groups"], more, in: bed) {
                try await provider.signIn(person, at: $0, consents: consents, session: session)
            }
        }

        func silent(_ more: JSONObject = [:]) async throws -> JSONObject {
            try await broker.acquireSilent(app: "notes", scopes: ["groups"], more)
        }

        /// Whether an access token is valid at the provider.
        func takes(_ token: JSONObject, in bed: TestBed) async throws -> Bool {
            try await HTTPSession(in: bed).send(
                "GET", "\(provider.authority)/oauth/userinfo",
                headers: ["Authorization": token.text("authorizationHeader")]
            ).status == 200
        }
    }

    @Test("a person signs in, and stays signed in by refresh tokens", arguments: [false, true])
    func signIn(isConfidential: Bool) async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed, secret: isConfidential)
            let signIn = try await scene.signIn(in: bed)
            #expect(!signIn.opening.text("url").contains("offline_access"))
            #expect(try await scene.takes(signIn.token, in: bed))
            #expect(try await scene.silent()[path: "accessToken"] == .string(signIn.accessToken))
            for _ in 1...2 {
                // Two tokens issued within one second are identical here, and the provider then ends both.
                let second = Int(Date().timeIntervalSince1970)
                try await eventually("another second") { Int(Date().timeIntervalSince1970) > second }
                let fresh = try await scene.silent(["forceRefresh": true])
                #expect(fresh[path: "fromCache"] == false)
                #expect(try await scene.takes(fresh, in: bed))
            }
            let account = try await scene.broker.call("accounts.list", ["app": "notes"])[path: "accounts"]
            #expect(account.arrayValue?.count == 1 && account.arrayValue?.first?["username"] == "alice")
        }
    }

    @Test("a rejected token is replaced by one refresh for all callers because the provider then ends it")
    func rejectedToken() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let first = try await scene.signIn(in: bed)
            let second = Int(Date().timeIntervalSince1970)
            try await eventually("another second") { Int(Date().timeIntervalSince1970) > second }
            let asked = scene.provider.requestCount("POST", "/oauth/token")
            let fresh = try await scene.silent(["rejectedToken": .string(first.accessToken)])
            #expect(fresh.text("accessToken") != first.accessToken && fresh[path: "rejected"] == .null)
            #expect(try await scene.takes(fresh, in: bed))
            #expect(try await !scene.takes(first.token, in: bed))
            let again = try await scene.silent(["rejectedToken": .string(first.accessToken)])
            #expect(again.text("accessToken") == fresh.text("accessToken") && again[path: "fromCache"] == true)
            #expect(scene.provider.requestCount("POST", "/oauth/token") == asked + 1)
        }
    }

    @Test("a refusal on the page is reported to the app, and prompt none without a session needs a person")
    func denied() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            await expectRefusal("userCanceled") { try await scene.signIn(consents: false, in: bed) }
            await expectRefusal("interactionRequired") { try await scene.signIn(.alice, ["prompt": "none"], in: bed) }
        }
    }

    @Test("a signed-in browser needs no prompt, and a sign-out with revoke is sent or its failure reported")
    func signOut() async throws {
        for isConfidential in [true, false] {
            try await withTestBed { bed in
                let (scene, session) = (try await Scene.make(in: bed, secret: isConfidential), HTTPSession(in: bed))
                _ = try await scene.signIn(session: session, in: bed)
                let passwords = scene.provider.requestCount("POST", "/login/password")
                _ = try await scene.signIn(session: session, in: bed)
                #expect(scene.provider.requestCount("POST", "/login/password") == passwords)
                let stages = try await scene.broker.signOut(app: "notes", ["revoke": true])
                #expect(scene.provider.requestCount("POST", "/oauth/revoke") >= 1)
                // A client without a secret may not revoke here.
                let revocation = stages.text("stages.revocation")
                #expect(isConfidential ? revocation == "done" : revocation.contains("does not accept this client"))
                #expect(stages.text("stages.local") == "done")
                await expectRefusal("interactionRequired") { try await scene.silent() }
            }
        }
    }

    @Test("the broker registers a client of its own there, and people sign in with it")
    func registration() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let answer = try await scene.broker.call(
                "apps.registerAtProvider",
                [
                    "name": "made", "authority": .string(scene.provider.authority),
                    "redirectUri": .string(scene.provider.redirectURI), "scopes": ["groups"],
                ])
            #expect(answer[path: "app.name"] == "made")
            let provider = scene.provider
            let signIn = try await scene.broker.signIn(app: "made", scopes: ["groups"], in: bed) {
                try await provider.signIn(.bob, at: $0)
            }
            #expect(try await scene.takes(signIn.token, in: bed))
            let fresh = try await scene.broker.acquireSilent(
                app: "made", scopes: ["groups"], ["forceRefresh": true])
            #expect(try await scene.takes(fresh, in: bed))
        }
    }
}

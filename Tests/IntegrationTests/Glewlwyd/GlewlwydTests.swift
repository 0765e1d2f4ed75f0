import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// A provider that compares redirect URIs exactly, signs with ES256, and accepts a refresh token once.
@Suite("glewlwyd", .serialized) struct GlewlwydTests {
    /// A provider, and a broker with the app `mail` with the redirect URI that is registered there.
    struct Scene {
        var provider: GlewlwydProvider
        var broker: BrokerProcess
        var redirectURI: String

        static func make(
            in bed: TestBed, accessLifetime: Int64 = 3600, _ change: (inout BrokerProcess.Options) -> Void = { _ in }
        ) async throws -> Scene {
            let redirectURI = "http://127.0.0.1:\(try FreePort.next())/signed-in"
            let provider = try await GlewlwydProvider.start(
                in: bed, redirectURIs: [redirectURI], accessLifetime: accessLifetime)
            let broker = try await BrokerProcess.start(in: bed, change)
            let scene = Scene(provider: provider, broker: broker, redirectURI: redirectURI)
            try await scene.registerApp(with: broker)
            return scene
        }

        func registerApp(with broker: BrokerProcess) async throws {
            try await broker.register(
                "mail", clientID: provider.clientID, authority: provider.authority,
                ["redirectUri": .string(redirectURI)])
        }

        func signIn(in bed: TestBed) async throws -> SignIn {
            let provider = provider
            return try await broker.signIn(app: "mail", in: bed) { try await provider.signIn(.alice, at: $0) }
        }
    }

    @Test("a person signs in at a fixed redirect URI, and later tokens come silently from the cache")
    func signInThenSilent() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            await expectRefusal("interactionRequired") { try await scene.broker.acquireSilent(app: "mail") }

            let signIn = try await scene.signIn(in: bed)
            #expect(signIn.opening["redirectUri"]?.stringValue == scene.redirectURI)
            #expect(signIn.page?.status == 200)
            #expect(signIn.token[path: "account.username"] == "alice")
            #expect(signIn.token[path: "account.name"] == "Alice Example")
            #expect(signIn.token[path: "tokenType"] == "Bearer")
            #expect(signIn.token[path: "authorizationHeader"] == .string("Bearer \(signIn.accessToken)"))
            #expect(signIn.token[path: "fromCache"] == false)
            #expect(signIn.token[path: "persisted"] == true)

            let silent = try await scene.broker.acquireSilent(app: "mail")
            #expect(silent[path: "fromCache"] == true)
            #expect(silent[path: "accessToken"] == .string(signIn.accessToken))

            // The provider itself knows the token's user.
            let userInfo = try await HTTPSession(in: bed).send(
                "GET", "\(scene.provider.authority)/userinfo",
                headers: ["Authorization": signIn.token.text("authorizationHeader")])
            #expect(userInfo.status == 200)
            #expect(try userInfo.json()["sub"] == signIn.token[path: "account.claims.sub"])
        }
    }

    @Test("short-lived tokens are refreshed again and again, each time with the latest refresh token")
    func rotation() async throws {
        try await withTestBed { bed in
            // Never valid long enough for the cache.
            let scene = try await Scene.make(in: bed, accessLifetime: 20)
            var seen: Set = [try await scene.signIn(in: bed).accessToken]
            for _ in 0..<4 {
                let token = try await scene.broker.acquireSilent(app: "mail", ["minimumLifetime": 60])
                #expect(token[path: "fromCache"] == false)
                #expect(token[path: "persisted"] == true)
                #expect(seen.insert(token.text("accessToken")).inserted)
            }
        }
    }

    @Test(
        "a used refresh token, refused with an empty 400, is sent once more, and then needs a sign-in")
    func reuse() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed, accessLifetime: 20)
            _ = try await scene.signIn(in: bed)
            // A backup that is restored after its token was used.
            await scene.broker.stop()
            let backup = bed.path("backup")
            try FileManager.default.copyItem(atPath: scene.broker.stateDirectory, toPath: backup)
            let later = try await BrokerProcess.start(in: bed) { $0.stateDirectory = scene.broker.stateDirectory }
            _ = try await later.acquireSilent(app: "mail", ["minimumLifetime": 60])
            await later.stop()

            let restored = try await BrokerProcess.start(in: bed) { $0.stateDirectory = backup }
            // It could be a fault of a gateway.
            let first = await expectRefusal("serverUnavailable", reason: "refreshRefused") {
                try await restored.acquireSilent(app: "mail", ["minimumLifetime": 60])
            }
            #expect(first?.data["httpStatus"] == 400)
            #expect(first?.data["retryable"] == true)
            let refusal = await expectRefusal("interactionRequired", reason: "refreshTokenRevoked") {
                try await restored.acquireSilent(app: "mail", ["minimumLifetime": 60])
            }
            #expect(refusal?.data["httpStatus"] == 400)
            #expect(refusal?.data["retryable"] == false)
            // The token is deleted now, and no further request is sent.
            await expectRefusal("interactionRequired", reason: "refreshTokenRevoked") {
                try await restored.acquireSilent(app: "mail", ["minimumLifetime": 60])
            }

            let provider = scene.provider
            let again = try await restored.signIn(app: "mail", in: bed) { try await provider.signIn(.alice, at: $0) }
            #expect(again.token[path: "account.username"] == "alice")
            _ = try await restored.acquireSilent(app: "mail", ["minimumLifetime": 60])
        }
    }

    @Test("with prompt none glewlwyd gets the app's account, and a browser that knows it signs in unseen")
    func promptNone() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let (provider, browser) = (scene.provider, HTTPSession(in: bed))
            let first = try await scene.broker.signIn(app: "mail", in: bed) {
                try await provider.signIn(.alice, at: $0, session: browser)
            }
            let unseen: JSONObject = ["prompt": "none", "account": ["id": .string(first.accountID)]]
            let second = try await scene.broker.signIn(app: "mail", unseen, in: bed) { url in
                let answer = try await browser.get(url)
                return ProviderRedirect(url: try #require(answer.header("location")))
            }
            #expect(second.accountID == first.accountID)
            #expect(second.accessToken != first.accessToken)
            await expectRefusal("interactionRequired", reason: "loginRequired") {
                try await scene.broker.signIn(app: "mail", unseen, in: bed) { url in
                    let answer = try await HTTPSession(in: bed).get(url)
                    return ProviderRedirect(url: try #require(answer.header("location")))
                }
            }
        }
    }

    @Test("a provider with a private CA is trusted with its file, and otherwise refused with that advice")
    func privateCA() async throws {
        try await withTestBed { bed in
            let certificate = try await TestCertificate.make(in: bed)
            let redirectURI = "http://127.0.0.1:\(try FreePort.next())/signed-in"
            let provider = try await GlewlwydProvider.start(
                in: bed, redirectURIs: [redirectURI], certificate: certificate)
            let scene = Scene(
                provider: provider,
                broker: try await BrokerProcess.start(in: bed) {
                    $0.caFile = certificate.authority
                    $0.allowsHTTPLoopback = false
                    $0.wrapper = ["env", "SSLKEYLOGFILE=\(bed.path("tls-keys"))"]
                }, redirectURI: redirectURI)
            try await scene.registerApp(with: scene.broker)
            let signIn = try await scene.signIn(in: bed)
            #expect(signIn.token[path: "account.authority"] == .string(provider.authority))
            let silent = try await scene.broker.acquireSilent(app: "mail", ["forceRefresh": true])
            #expect(silent[path: "fromCache"] == false)
            // libcurl would write the session keys there.
            #expect(!FileManager.default.fileExists(atPath: bed.path("tls-keys")))

            let distrustful = try await BrokerProcess.start(in: bed)
            try await scene.registerApp(with: distrustful)
            let refusal = await expectRefusal("offline") {
                try await distrustful.interact(app: "mail") { _ in nil }
            }
            #expect(refusal?.message.contains("--ca-file") == true)
        }
    }

    @Test("a confidential client authenticates with its secret, and a wrong secret has its own error")
    func confidentialClient() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let provider = scene.provider
            for (name, secret) in [("web", provider.clientSecret), ("imposter", "not-the-secret")] {
                try await scene.broker.register(
                    name, clientID: provider.confidentialClientID, authority: provider.authority,
                    ["redirectUri": .string(scene.redirectURI), "clientSecret": .string(secret)])
            }
            let signIn = try await scene.broker.signIn(app: "web", in: bed) {
                try await provider.signIn(.bob, at: $0)
            }
            #expect(signIn.token[path: "account.username"] == "bob")
            _ = try await scene.broker.acquireSilent(app: "web", ["forceRefresh": true])
            // glewlwyd's own error code for a wrong secret.
            await expectRefusal("unauthorizedClient") {
                try await scene.broker.signIn(app: "imposter", in: bed) { try await provider.signIn(.bob, at: $0) }
            }
        }
    }
}

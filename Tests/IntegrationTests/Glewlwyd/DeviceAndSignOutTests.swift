import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("glewlwyd: another device, and signing out", .serialized)
struct DeviceAndSignOutTests {
    private func introspecting(in bed: TestBed) async throws -> GlewlwydTests.Scene {
        let scene = try await GlewlwydTests.Scene.make(in: bed)
        try await scene.provider.tune([
            "introspection-revocation-allowed": true, "introspection-revocation-allow-target-client": true,
            "introspection-revocation-auth-scope": [],
        ])
        return scene
    }

    @Test("the code is shown, the broker polls, and after the approval elsewhere the token arrives")
    func device() async throws {
        try await withTestBed { bed in
            let scene = try await GlewlwydTests.Scene.make(in: bed)
            let connection = try await scene.broker.connect()
            let provider = scene.provider
            let person = Task { () -> JSONObject in
                do {
                    let shown = await connection.nextNotification() ?? [:]
                    #expect(shown["method"] == "interaction.deviceCode")
                    try await eventually("the broker asks, and has to wait") {
                        try await provider.deviceCodeWasAskedFor()
                    }
                    try await provider.approve(.alice, at: shown.text("params.verificationUriComplete"))
                    return shown[path: "params"].objectValue ?? [:]
                } catch {
                    await connection.close()
                    throw error
                }
            }
            let answer = Task {
                try await connection.call("token.acquireByDeviceCode", ["app": "mail", "scopes": ["api"]])
            }
            let shown = try await person.value
            let token = try await answer.value
            await connection.close()

            #expect(shown.text("verificationUri") == "\(provider.authority)/device")
            #expect(shown[path: "interval"] == 1)
            #expect(shown.text("message").contains(shown.text("userCode")))
            #expect(token[path: "account.username"] == "alice")
            #expect(token[path: "scopes"].arrayValue?.contains("api") == true)

            let silent = try await scene.broker.acquireSilent(app: "mail")
            #expect(silent.text("accessToken") == token.text("accessToken"))
            let refreshed = try await scene.broker.acquireSilent(app: "mail", ["forceRefresh": true])
            #expect(refreshed.text("accessToken") != token.text("accessToken"))
        }
    }

    @Test("after slow_down the broker waits five seconds more, and gets its token")
    func slowDown() async throws {
        try await withTestBed { bed in
            let scene = try await GlewlwydTests.Scene.make(in: bed)
            let (connection, provider) = (try await scene.broker.connect(), scene.provider)
            let answer = Task {
                try await connection.call("token.acquireByDeviceCode", ["app": "mail", "scopes": ["api"]])
            }
            let shown = await connection.nextNotification() ?? [:]
            #expect(shown[path: "params.interval"] == 1)
            try await eventually("the broker asks for the first time") { try await provider.deviceCodeWasAskedFor() }
            // The broker got an interval of one second, and glewlwyd now requires five between two requests.
            try await provider.tune(["device-authorization-interval": 5])
            try await eventually("the broker asks more slowly") {
                let before = try provider.deviceCodeAskedForAt()
                var after = before
                try await eventually("the broker asks again") {
                    after = try provider.deviceCodeAskedForAt()
                    return after != before
                }
                return after - before >= 5
            }
            // That was its response to polling too often.
            #expect(try await provider.askTooOften() == ["authorization_pending", "slow_down"])
            try await provider.approve(.alice, at: shown.text("params.verificationUriComplete"))
            let token = try await answer.value
            await connection.close()
            #expect(token[path: "account.username"] == "alice")
        }
    }

    @Test("with revoke, a confidential client's refresh token is invalid, also one from a backup")
    func revocation() async throws {
        try await withTestBed { bed in
            let scene = try await introspecting(in: bed)
            let provider = scene.provider
            try await scene.broker.register(
                "web", clientID: provider.confidentialClientID, authority: provider.authority,
                ["redirectUri": .string(scene.redirectURI), "clientSecret": .string(provider.clientSecret)])
            _ = try await scene.broker.signIn(app: "web", in: bed) { try await provider.signIn(.bob, at: $0) }
            let (broker, copy) = try await scene.broker.twice(in: bed)

            let stages = try await broker.signOut(app: "web", ["revoke": true])
            #expect(stages.text("stages.local") == "done")
            #expect(stages.text("stages.revocation") == "done", "\(stages)")
            await expectRefusal("interactionRequired", reason: "signedOut") {
                try await broker.acquireSilent(app: "web")
            }
            await expectRefusal("serverUnavailable", reason: "refreshRefused") {
                try await copy.acquireSilent(app: "web", ["forceRefresh": true])
            }
            await expectRefusal("interactionRequired", reason: "refreshTokenRevoked") {
                try await copy.acquireSilent(app: "web", ["forceRefresh": true])
            }
        }
    }

    @Test("glewlwyd lets no public client revoke, which that stage reports, and the local sign-out succeeds")
    func publicRevocation() async throws {
        try await withTestBed { bed in
            let scene = try await introspecting(in: bed)
            _ = try await scene.signIn(in: bed)
            let stages = try await scene.broker.signOut(app: "mail", ["revoke": true])
            #expect(stages.text("stages.revocation").hasPrefix("failed: "), "\(stages)")
            #expect(stages.text("stages.local") == "done")
            await expectRefusal("interactionRequired", reason: "signedOut") {
                try await scene.broker.acquireSilent(app: "mail")
            }
        }
    }

    @Test("the browser's session ends on glewlwyd's page, which leads back to the broker's")
    func browser() async throws {
        try await withTestBed { bed in
            let scene = try await GlewlwydTests.Scene.make(in: bed)
            let (provider, redirectURI) = (scene.provider, scene.redirectURI)
            let session = HTTPSession(in: bed)
            _ = try await scene.broker.signIn(app: "mail", in: bed) {
                try await provider.signIn(.alice, at: $0, session: session)
            }
            let stages = try await scene.broker.signOut(app: "mail", ["fromBrowser": true]) { opening in
                let url = opening.text("url")
                #expect(url.hasPrefix("\(provider.authority)/end_session?"))
                let asked = query(of: url)
                #expect(asked["client_id"] == provider.clientID)
                #expect(asked["logout_hint"] == "alice")
                #expect(asked["post_logout_redirect_uri"] == redirectURI)
                #expect(asked["id_token_hint"]?.split(separator: ".").count == 3)
                #expect(asked["state"]?.isEmpty == false)
                let page = try await session.get(provider.signOut(at: url, session: session).url)
                #expect(page.status == 200)
                #expect(page.text.localizedCaseInsensitiveContains("signed out"))
            }
            #expect(stages.text("stages.browser") == "done", "\(stages)")
            let again = try await session.get("\(provider.base)/api/profile_list")
            #expect(again.status == 401)
        }
    }

    @Test("a browser that does not return in time may still be signed in, which the stage reports")
    func browserStaysAway() async throws {
        try await withTestBed { bed in
            let scene = try await GlewlwydTests.Scene.make(in: bed)
            _ = try await scene.signIn(in: bed)
            let stages = try await scene.broker.signOut(app: "mail", ["fromBrowser": true, "timeout": 1])
            #expect(stages.text("stages.browser").hasPrefix("failed: "), "\(stages)")
            #expect(stages.text("stages.local") == "done")
        }
    }

    @Test("without a configured end of session the stage says so, and nothing is opened")
    func noEndSession() async throws {
        try await withTestBed { bed in
            let scene = try await GlewlwydTests.Scene.make(in: bed)
            try await scene.provider.tune(["session-management-allowed": false])
            _ = try await scene.signIn(in: bed)
            let stages = try await scene.broker.signOut(app: "mail", ["fromBrowser": true]) {
                Issue.record("There is nothing to open: \($0)")
            }
            #expect(stages.text("stages.browser").hasPrefix("failed: "), "\(stages)")
            #expect(stages.text("stages.local") == "done")
        }
    }
}

import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("A device code at a provider with tenants", .serialized)
struct EntraDeviceCodeTests {
    private func scene(in bed: TestBed, at tenant: String = "common") async throws -> EntraScene {
        try await EntraScene.make(in: bed, at: tenant) { $0.policy.devicePollInterval = 1 }
    }

    /// Acquires a token by a code; the person decides as soon as the code is shown.
    private func signIn(
        _ scene: EntraScene, as person: String? = "alice", _ more: JSONObject = [:]
    ) async throws -> (token: JSONObject, notice: JSONObject) {
        let connection = try await scene.broker.connect()
        let provider = scene.provider
        let notice = Task { () -> JSONObject in
            while let message = await connection.nextNotification() {
                guard message["method"] == "interaction.deviceCode" else { continue }
                provider.decideDevice(message.text("params.userCode"), approvedBy: person)
                return message["params"]?.objectValue ?? [:]
            }
            return [:]
        }
        let params: JSONObject = ["app": "notes", "scopes": [.string(EntraScene.scope)]]
        do {
            let token = try await connection.call("token.acquireByDeviceCode", params.merging(more) { $1 })
            let shown = await notice.value
            await connection.close()
            return (token, shown)
        } catch {
            await connection.close()
            throw error
        }
    }

    @Test("the person signs in elsewhere on common, is stored under home, and the next tokens come silently")
    func home() async throws {
        try await withTestBed { bed in
            let scene = try await scene(in: bed)
            let (token, notice) = try await signIn(scene)
            // Entra sends its own instruction, and no URL with the code in it.
            #expect(notice.text("message").contains(notice.text("userCode")))
            #expect(notice["verificationUriComplete"] == nil)
            #expect(token.text("account.tenantId") == EntraScene.home)
            #expect(token.text("account.homeAccountId").hasSuffix("." + EntraScene.home))
            #expect(token.text("authority") == scene.provider.authority(EntraScene.home))
            #expect(try await scene.silent()["accessToken"] == token["accessToken"])
            scene.provider.clearLog()
            #expect(try await scene.silent(["forceRefresh": true])["fromCache"] == false)
            #expect(scene.tokenTenants == [EntraScene.home])
        }
    }

    @Test("a guest names another tenant for this sign-in, and is the same account as at home")
    func guest() async throws {
        try await withTestBed { bed in
            let scene = try await scene(in: bed)
            let (token, _) = try await signIn(scene, as: "alice", scene.at(EntraScene.guest))
            #expect(Set(scene.tokenTenants) == [EntraScene.guest])
            #expect(token.text("authority") == scene.provider.authority(EntraScene.guest))
            let atHome = try await scene.silent()
            #expect(atHome.text("account.id") == token.text("account.id"))
            #expect(atHome.text("authority") == scene.provider.authority(EntraScene.home))
            #expect(try await scene.accounts().count == 1)
        }
    }

    @Test("an authority of another kind or cloud is refused before a code is shown")
    func otherCloud() async throws {
        try await withTestBed { bed in
            let scene = try await scene(in: bed)
            for authority in ["https://login.microsoftonline.com/common", "https://id.example"] {
                await expectRefusal("invalidAuthority") {
                    try await signIn(scene, as: "alice", ["authority": .string(authority)]).token
                }
            }
            #expect(!scene.provider.log.contains { $0.endpoint == .deviceAuthorization })
        }
    }

    @Test("a decline on the other device is reported as a cancellation, with Entra's error code")
    func declined() async throws {
        try await withTestBed { bed in
            let scene = try await scene(in: bed)
            let refusal = await expectRefusal("userCanceled") { try await signIn(scene, as: nil).token }
            #expect(refusal?.data["oauthError"] == "authorization_declined")
        }
    }

    @Test("brokerctl login --device-code --authority signs a guest in")
    func commandLine() async throws {
        try await withTestBed { bed in
            let scene = try await scene(in: bed)
            let login = try scene.broker.startCtl([
                "login", "--device-code", "--app", "notes", "--scope", EntraScene.scope, "--authority",
                scene.provider.authority(EntraScene.guest), "--json",
            ])
            try await login.waitForText("userCode")
            let line = login.outputText.split(separator: "\n").first.map(String.init) ?? ""
            let notice = try JSONDecoder().decode(JSONObject.self, from: Data(line.utf8))
            scene.provider.decideDevice(notice.text("userCode"), approvedBy: "alice")
            #expect(await login.exitStatus() == .exited(0))
            #expect(Set(scene.tokenTenants) == [EntraScene.guest])
        }
    }
}

import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// The development provider is on loopback, to which a system broker sends no requests for its callers
/// (`access.allow_private_authorities`).
@Suite("A provider at a private address, and a system broker", .needsRoot) struct PrivateProviderTests {
    private let alice: UInt32 = 12_001

    private func register(_ scene: SystemScene, _ name: JSONValue) -> JSONObject {
        ["name": name, "clientId": "demo-one", "authority": .string(scene.provider.issuer), "checkAuthority": true]
    }

    @Test("a user who may register apps may use it for the app only, and not for a client of their own")
    func asked() async throws {
        try await withTestBed { bed in
            let scene = try await SystemScene.make(in: bed, configuration: "[access]\nallow_ad_hoc_clients = true\n")
            let user = try scene.user(alice)
            let own: JSONObject = [
                "clientId": "demo-one", "authority": .string(scene.provider.issuer), "scopes": ["a"],
            ]
            func expectNoOwnClient() async throws {
                scene.provider.clearLog()
                for method in ["token.acquireSilent", "token.acquireByDeviceCode"] {
                    let answer = try await user.ask(method, own)
                    #expect(answer[path: "error.data.kind"] == "invalidAuthority", "\(method): \(answer)")
                }
                #expect(scene.provider.log.isEmpty)
            }
            try await expectNoOwnClient()
            // Requested, and then refused for another reason: nothing is registered.
            let refused = try await user.ask(
                "apps.registerAtProvider",
                ["name": "made", "authority": .string(scene.provider.issuer), "redirectUri": "https://a.example/#b"])
            #expect(refused["error"] != nil, "\(refused)")
            try await expectNoOwnClient()

            let checked = try await user.ask("apps.register", register(scene, "checked"))
            #expect(checked[path: "result.provider.issuer"] == .string(scene.provider.issuer), "\(checked)")
            let made = try await user.ask(
                "apps.registerAtProvider", ["name": "made", "authority": .string(scene.provider.issuer)])
            #expect(made[path: "result.app.name"] == "made", "\(made)")
            try await expectNoOwnClient()
        }
    }

    @Test("a user who may not register apps causes no request there")
    func notAsked() async throws {
        try await withTestBed { bed in
            let scene = try await SystemScene.make(in: bed, configuration: "[admin]\nproof = \"setgid\"\n")
            let user = try scene.user(alice)
            let made: JSONObject = ["name": "made", "authority": .string(scene.provider.issuer)]
            for (method, params) in [
                ("apps.register", register(scene, "checked")), ("apps.registerAtProvider", made),
            ] {
                let answer = try await user.ask(method, params)
                #expect(answer[path: "error.data.kind"] == "accessDenied", "\(method): \(answer)")
            }
            #expect(scene.provider.log.isEmpty)
        }
    }
}

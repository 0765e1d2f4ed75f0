import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// The development provider is on loopback, which is where a broker for all asks nobody whom a caller names
/// (`access.allow_private_authorities`).
@Suite("A provider at a private address, and a broker for all", .needsRoot) struct PrivateProviderTests {
    private let alice: UInt32 = 12_001

    private func register(_ scene: SystemScene, _ name: JSONValue) -> JSONObject {
        ["name": name, "clientId": "demo-one", "authority": .string(scene.provider.issuer), "checkAuthority": true]
    }

    @Test("who may register apps has it asked, for the app only; a client of a caller's own has not")
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
            // Asked, and then refused for another reason: nothing is registered.
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

    @Test("who may not register apps has nothing asked there")
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

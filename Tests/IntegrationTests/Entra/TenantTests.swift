import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("At a provider with tenants", .serialized, .timeLimit(.minutes(2))) struct TenantTests {
    private static let scope = "notes.read"
    private static let (home, guest) = (EntraDirectory.alpha.id, EntraDirectory.beta.id)

    /// A provider shaped like Entra, and a broker that was told so, with the app `notes` at an authority of it.
    private struct Scene {
        var provider: RunningProvider
        var broker: BrokerProcess
        let bed: TestBed

        static func make(in bed: TestBed, at tenant: String = "common") async throws -> Scene {
            var options = ProviderOptions.entra()
            options.allowsAnyClient = true
            let provider = try await DevIdentityProvider.start(options)
            bed.atEnd { await provider.stop() }
            let broker = try await start(in: bed, for: provider, stateDirectory: nil)
            try await broker.register("notes", clientID: "demo-one", authority: provider.authority(tenant))
            return Scene(provider: provider, broker: broker, bed: bed)
        }

        private static func start(
            in bed: TestBed, for provider: RunningProvider, stateDirectory: String?
        ) async throws -> BrokerProcess {
            try await BrokerProcess.start(in: bed) { options in
                options.configuration = "[provider.\"\(provider.origin)\"]\nkind = \"entra\"\n"
                options.stateDirectory = stateDirectory
            }
        }

        mutating func restart() async throws {
            await broker.stop()
            broker = try await Self.start(in: bed, for: provider, stateDirectory: broker.stateDirectory)
        }

        func signIn(_ more: JSONObject = [:]) async throws -> SignIn {
            let (provider, bed) = (provider, bed)
            return try await broker.signIn(app: "notes", scopes: [scope], more, in: bed) {
                try await provider.signIn(.alice, at: $0, in: bed)
            }
        }

        func silent(_ more: JSONObject = [:]) async throws -> JSONObject {
            try await broker.acquireSilent(app: "notes", scopes: [scope], more)
        }

        func accounts() async throws -> [JSONObject] {
            let listed = try await broker.call("accounts.list", ["app": "notes"])
            return listed["accounts"]?.arrayValue?.compactMap(\.objectValue) ?? []
        }

        var tokenTenants: [String] { provider.log.filter { $0.endpoint == .token }.compactMap(\.tenant) }
    }

    private func profiles(of account: JSONObject?) -> [String] {
        (account?["tenantProfiles"]?.arrayValue ?? []).compactMap { profile in
            guard let profile = profile.objectValue, let tenant = profile["tenantId"]?.stringValue else { return nil }
            return tenant + (profile["isHomeTenant"] == true ? " home" : " guest")
        }
    }

    @Test("a sign-in on common is filed under the home tenant, and silent goes there")
    func homeTenant() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let signIn = try await scene.signIn()
            let account = try #require(signIn.token["account"]?.objectValue)
            #expect(account["tenantId"] == .string(Self.home))
            #expect(account["homeAccountId"]?.stringValue?.hasSuffix("." + Self.home) == true)
            #expect(signIn.token["authority"] == .string(scene.provider.authority(Self.home)))
            #expect(profiles(of: account) == [Self.home + " home"])
            #expect(try await scene.silent()["fromCache"] == true)

            scene.provider.clearLog()
            let refreshed = try await scene.silent(["forceRefresh": true])
            #expect(refreshed["accessToken"] != signIn.token["accessToken"])
            #expect(scene.tokenTenants == [Self.home])
            #expect(try await scene.silent()["accessToken"] == refreshed["accessToken"])
        }
    }

    @Test("a guest gets another tenant's token by the same sign-in, and is still one account, with two profiles")
    func guest() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let signIn = try await scene.signIn()
            scene.provider.clearLog()
            let elsewhere: JSONObject = ["authority": .string(scene.provider.authority(Self.guest))]
            let token = try await scene.silent(elsewhere)
            #expect(scene.tokenTenants == [Self.guest])
            #expect(token["authority"] == .string(scene.provider.authority(Self.guest)))
            #expect(token["account"]?.objectValue?["id"] == .string(signIn.accountID))
            #expect(token["account"]?.objectValue?["tenantId"] == .string(Self.home))

            // Both are in the cache, each under its tenant.
            #expect(try await scene.silent(elsewhere)["accessToken"] == token["accessToken"])
            #expect(try await scene.silent()["accessToken"] == signIn.token["accessToken"])
            #expect(scene.tokenTenants.count == 1)
            let accounts = try await scene.accounts()
            #expect(accounts.count == 1)
            #expect(profiles(of: accounts.first) == [Self.home + " home", Self.guest + " guest"])

            _ = try await scene.broker.call(
                "accounts.remove", ["app": "notes", "account": ["id": .string(signIn.accountID)]])
            #expect(try await scene.accounts().isEmpty)
        }
    }

    @Test("a tenant named by its domain is found in the cache by that name")
    func domain() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed, at: EntraDirectory.alpha.domain)
            let signIn = try await scene.signIn()
            #expect(signIn.token["account"]?.objectValue?["tenantId"] == .string(Self.home))
            #expect(try await scene.silent()["fromCache"] == true)
            let byID: JSONObject = ["authority": .string(scene.provider.authority(Self.home))]
            #expect(try await scene.silent(byID)["accessToken"] == signIn.token["accessToken"])
        }
    }

    @Test("an authority of another kind or cloud is refused for one request")
    func otherCloud() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            _ = try await scene.signIn()
            for authority in ["https://login.microsoftonline.com/common", "https://id.example"] {
                let refusal = await #expect(throws: Refusal.self) {
                    try await scene.silent(["authority": .string(authority)])
                }
                #expect(refusal?.kind == "invalidAuthority")
            }
        }
    }

    @Test("after a restart without network tokens come from the cache, and a refresh says offline")
    func offline() async throws {
        try await withTestBed { bed in
            var scene = try await Scene.make(in: bed)
            let signIn = try await scene.signIn()
            await scene.provider.stop()
            try await scene.restart()
            #expect(try await scene.silent()["accessToken"] == signIn.token["accessToken"])
            let refusal = await #expect(throws: Refusal.self) { try await scene.silent(["forceRefresh": true]) }
            #expect(refusal?.kind == "offline")
        }
    }
}

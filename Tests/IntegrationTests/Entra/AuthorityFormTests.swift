import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("Kinds of authority over the socket", .serialized) struct AuthorityFormTests {
    private static let scopes: JSONValue = [.string(EntraScene.scope)]

    /// A broker with an app at an authority of a provider of any kind.
    private func broker(
        in bed: TestBed, for provider: RunningProvider, at authority: String, kind: String? = nil
    ) async throws -> BrokerProcess {
        let broker = try await BrokerProcess.start(in: bed) { options in
            options.configuration = kind.map { "[provider.\"\(provider.origin)\"]\nkind = \"\($0)\"\n" }
        }
        try await broker.register("notes", clientID: "demo-one", authority: authority)
        return broker
    }

    private func provider(in bed: TestBed, _ options: ProviderOptions) async throws -> RunningProvider {
        var options = options
        options.allowsAnyClient = true
        let provider = try await DevIdentityProvider.start(options)
        bed.atEnd { await provider.stop() }
        return provider
    }

    private func signIn(
        _ person: Person = .alice, at provider: RunningProvider, _ broker: BrokerProcess, in bed: TestBed
    ) async throws -> SignIn {
        try await broker.signIn(app: "notes", scopes: [EntraScene.scope], in: bed) {
            try await provider.signIn(person, at: $0, in: bed)
        }
    }

    @Test("every spelling of a tenant's authority is the same tenant, and its token is in the cache")
    func spellings() async throws {
        try await withTestBed { bed in
            let scene = try await EntraScene.make(in: bed)
            let signIn = try await scene.signIn()
            let origin = scene.provider.origin
            for path in [
                "/common", "/COMMON/", "/common/v2.0", "/organizations", "/\(EntraScene.home)",
                "/\(EntraScene.home.uppercased())", "/\(EntraScene.home)/v2.0/",
            ] {
                let token = try await scene.silent(["authority": .string(origin + path)])
                #expect(token["accessToken"] == signIn.token["accessToken"], "\(path)")
            }
            for path in ["", "/", "/common/oauth2", "/a/b/c"] {
                await expectRefusal("invalidAuthority") {
                    try await scene.silent(["authority": .string(origin + path)])
                }
            }
        }
    }

    @Test("a personal account signs in on consumers and on common, and has one home")
    func consumers() async throws {
        try await withTestBed { bed in
            let scene = try await EntraScene.make(in: bed, at: "consumers")
            let carol = Person(name: "carol", password: "carol-pw-1")
            let token = try await self.signIn(carol, at: scene.provider, scene.broker, in: bed).token
            let home = EntraDirectory.consumers.id
            #expect(token.text("account.tenantId") == home)
            #expect(token.text("authority") == scene.provider.authority(home))
            #expect(try await scene.silent()["accessToken"] == token["accessToken"])
            #expect(try await scene.silent(scene.at("common"))["accessToken"] == token["accessToken"])
            scene.provider.clearLog()
            #expect(try await scene.silent(["forceRefresh": true])["fromCache"] == false)
            #expect(scene.tokenTenants == [home])
        }
    }

    @Test("an ad hoc client with another tenant for a request is the same app, with the same account")
    func adHocGuest() async throws {
        try await withTestBed { bed in
            let scene = try await EntraScene.make(in: bed)
            let provider = scene.provider
            func client(_ tenant: String) -> JSONObject {
                ["clientId": "demo-two", "authority": .string(provider.authority(tenant))]
            }
            func asking(_ tenant: String) -> JSONObject {
                client(tenant).merging(["scopes": Self.scopes]) { $1 }
            }
            let signIn = try await scene.broker.interact(asking("common")) { url in
                let redirect = try await provider.signIn(.alice, at: url, in: bed)
                return try await HTTPSession(in: bed).get(redirect.url)
            }
            let guest = try await scene.broker.call("token.acquireSilent", asking(EntraScene.guest))
            #expect(guest.text("account.id") == signIn.accountID)
            #expect(guest.text("authority") == provider.authority(EntraScene.guest))
            let home = try await scene.broker.call("token.acquireSilent", asking(EntraScene.home))
            #expect(home["accessToken"] == signIn.token["accessToken"])
            for tenant in ["common", EntraScene.guest] {
                let listed = try await scene.broker.call("accounts.list", client(tenant))
                #expect(listed["accounts"]?.arrayValue?.count == 1)
            }
            // It is neither the registered app nor another client.
            #expect(try await scene.accounts().isEmpty)
        }
    }

    @Test("External ID: people are stored under their tenant, as at Entra")
    func ciam() async throws {
        try await withTestBed { bed in
            let provider = try await provider(in: bed, .entra())
            let authority = provider.authority(EntraDirectory.alpha.domain)
            let broker = try await broker(in: bed, for: provider, at: authority, kind: "ciam")
            let token = try await signIn(at: provider, broker, in: bed).token
            #expect(token.text("account.tenantId") == EntraScene.home)
            #expect(token.text("account.homeAccountId").hasSuffix("." + EntraScene.home))
            let silent = try await broker.acquireSilent(app: "notes", scopes: [EntraScene.scope])
            #expect(silent["accessToken"] == token["accessToken"])
            let fresh = try await broker.acquireSilent(
                app: "notes", scopes: [EntraScene.scope], ["forceRefresh": true])
            #expect(fresh.text("account.id") == token.text("account.id"))
        }
    }

    @Test(
        "ADFS and a B2C policy are recognized by path, tokens are stored by path, and no tenant is chosen",
        arguments: [
            ("/adfs", "/adfs", "/ADFS/"),
            ("/tfp/contoso/b2c_1_in/v2.0", "/tfp/Contoso/B2C_1_in", "/tfp/contoso/b2c_1_IN/v2.0"),
        ])
    func byPath(issuerPath: String, path: String, otherSpelling: String) async throws {
        try await withTestBed { bed in
            var options = ProviderOptions()
            options.issuerPath = issuerPath
            let provider = try await provider(in: bed, options)
            let broker = try await broker(in: bed, for: provider, at: provider.origin + path)
            let token = try await signIn(at: provider, broker, in: bed).token
            #expect(token.text("authority") == provider.origin + path.lowercased())
            let same: JSONObject = ["authority": .string(provider.origin + otherSpelling)]
            let silent = try await broker.acquireSilent(app: "notes", scopes: [EntraScene.scope], same)
            #expect(silent["accessToken"] == token["accessToken"])
            let fresh = try await broker.acquireSilent(
                app: "notes", scopes: [EntraScene.scope], ["forceRefresh": true])
            #expect(fresh.text("account.id") == token.text("account.id"))
            await expectRefusal("invalidAuthority") {
                try await broker.acquireSilent(
                    app: "notes", scopes: [EntraScene.scope], ["authority": .string(provider.origin + "/plain")])
            }
        }
    }
}

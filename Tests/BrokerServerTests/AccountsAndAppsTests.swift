import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Accounts and apps over a real socket")
struct AccountsAndAppsTests {
    @Test("an app is registered, replaced, listed by name and removed, and its secret is never shown")
    func apps() async throws {
        try await ServerBed.run { server in
            let client = try await server.connect()
            var params = RegisterApp.Params(name: "mail", clientId: "c1", authority: "HTTPS://Login.Example:443/x/")
            params.clientSecret = "hush-hush"
            params.description.scopes = ["a", "b"]
            params.description.executables = ["/usr/bin/mail"]
            let app = try await client.call(RegisterApp.self, params).app
            #expect(app.authority == "https://login.example/x")
            #expect(app.confidential)
            #expect(app.scopes == ["a", "b"])
            #expect(app.executables == ["/usr/bin/mail"])
            try await server.register("agenda")
            try await client.send(ListApps.requestLine(id: 1, Empty()))
            let line = try #require(try await client.readLine())
            #expect(!line.contains("hush-hush"))
            #expect(try await client.call(ListApps.self, Empty()).apps.map(\.name) == ["agenda", "mail"])
            params.clientSecret = nil
            #expect(try await client.call(RegisterApp.self, params).app.confidential == false)
            #expect(try await client.call(RemoveApp.self, .init(name: "mail")).app.clientID == "c1")
            let gone = try await client.refusal(of: RemoveApp.self, .init(name: "mail"))
            #expect(gone?.data?.kind == .appNotFound)
        }
    }

    @Test("the provider is checked before registration if requested, and its capabilities are returned")
    func lookedAt() async throws {
        try await ServerBed.run { server in
            let client = try await server.connect()
            var params = RegisterApp.Params(name: "mail", clientId: "c1", authority: ServerBed.authority)
            #expect(try await client.call(RegisterApp.self, params).provider == nil)
            params.checkAuthority = true
            let provider = try await client.call(RegisterApp.self, params).provider
            #expect(
                provider
                    == ProviderOutline(issuer: ServerBed.authority, offers: ["device_authorization", "revocation"]))
        }
    }

    @Test("accounts are visible within a group and to the person's tools, but not to other apps")
    func visibility() async throws {
        try await ServerBed.run { server in
            try await server.register("mail", group: "office")
            try await server.register("agenda", group: "office")
            try await server.register("game")
            try await server.signIn("ann", to: "mail")
            try await server.signIn("bob", to: "agenda")
            let client = try await server.connect()
            func names(_ app: String?) async throws -> [String] {
                try await client.call(ListAccounts.self, app.map { .init(.registered($0)) } ?? .init()).accounts.map(
                    \.username)
            }
            #expect(try await names("mail") == ["ann", "bob"])
            #expect(try await names("agenda") == ["ann", "bob"])
            #expect(try await names("game") == [])
            #expect(try await names(nil) == ["ann", "bob"])
            #expect(try await client.call(GetAccount.self, .init(.username("Ann"))).account?.username == "ann")
            var params = GetAccount.Params(.username("ann"))
            params.selection.app = "game"
            #expect(try await client.call(GetAccount.self, params).account == nil)
        }
    }

    @Test("an account removed from an app needs a new sign-in there")
    func remove() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            let token = try await server.signIn("ann", to: "mail")
            let client = try await server.connect()
            let removed = try await client.call(
                RemoveAccount.self, .init(.id(token.account.id), from: .registered("mail")))
            #expect(removed.removed > 0)
            let error = try await client.refusal(of: AcquireTokenSilent.self, .of("mail"))
            #expect(error?.data?.kind == .interactionRequired)
        }
    }

    @Test("a sandboxed app may neither register apps nor see other apps' accounts")
    func sandboxed() async throws {
        try await ServerBed.run(inspector: PlainInspector(sandboxID: "org.example.Game")) { server in
            let client = try await server.connect()
            let params = RegisterApp.Params(name: "mail", clientId: "c", authority: ServerBed.authority)
            let register = try await client.refusal(of: RegisterApp.self, params)
            let list = try await client.refusal(of: ListAccounts.self, .init())
            for error in [register, list] {
                #expect(error?.data?.kind == .accessDenied)
                #expect(error?.data?.caller?.contains("org.example.Game") == true)
            }
        }
    }
}

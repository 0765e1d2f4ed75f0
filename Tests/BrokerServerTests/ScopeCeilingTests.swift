import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("An app's limit of scopes, over a real socket")
struct ScopeCeilingTests {
    private func limit(_ name: String, to scopes: [String], group: String, on server: ServerBed) async throws {
        // One client with two names: its tokens belong to both apps.
        var params = RegisterApp.Params(name: name, clientId: "client-of-mail", authority: ServerBed.authority)
        (params.description.group, params.description.allowedScopes) = (group, scopes)
        let app = try await server.connect().call(RegisterApp.self, params).app
        #expect(app.allowedScopes == scopes)
    }

    @Test("a request above the limit reaches no provider and does not reveal the accounts")
    func above() async throws {
        try await ServerBed.run { server in
            try await server.register("mail", group: "office")
            try await server.signIn("ann", to: "mail", scopes: ["read", "write"])
            try await limit("reader", to: ["read"], group: "office", on: server)
            let (client, asked) = (try await server.connect(), server.provider.asked.count)
            let silent = try await client.refusal(of: AcquireTokenSilent.self, .of("reader", ["write"]))
            #expect(silent?.data?.kind == .accessDenied && silent?.data?.reason == .scopesNotAllowed)
            #expect(silent?.data?.app == "reader" && silent?.data?.accounts == nil)
            var interactive = AcquireTokenInteractive.Params(.registered("reader"), scopes: ["read"])
            interactive.extraScopesToConsent = ["write"]
            for refused in [
                try await client.refusal(of: AcquireTokenInteractive.self, interactive),
                try await client.refusal(
                    of: AcquireTokenByDeviceCode.self, .init(.registered("reader"), scopes: ["write"])),
            ] { #expect(refused?.data?.reason == .scopesNotAllowed) }
            #expect(server.provider.asked.count == asked)
            #expect(server.provider.authorizations.count == 1 && server.provider.refreshes.isEmpty)
        }
    }

    @Test("a wider token of the group's cache is skipped, and a narrower one is fetched")
    func narrower() async throws {
        try await ServerBed.run { server in
            try await server.register("mail", group: "office")
            try await server.signIn("ann", to: "mail", scopes: ["read", "write"])
            try await limit("reader", to: ["read"], group: "office", on: server)
            let token = try await server.connect().call(AcquireTokenSilent.self, .of("reader"))
            #expect(!token.fromCache && !token.scopes.contains("write") && token.scopes.contains("read"))
            #expect(try await server.connect().call(AcquireTokenSilent.self, .of("reader")).fromCache)
        }
    }
}

import BrokerModel
import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Entries of the audit log over a real socket")
struct AuditOverSocketTests {
    @Test("tokens, refusals and changes are recorded, but not reads, and a sandbox does not see the log")
    func recorded() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            let params = AcquireTokenSilent.Params(.registered("mail"), scopes: ["read"])
            for _ in 0..<3 { _ = try await client.call(AcquireTokenSilent.self, params) }
            _ = try await client.refusal(
                of: AcquireTokenSilent.self, AcquireTokenSilent.Params(.registered("none"), scopes: ["read"]))
            _ = try await client.call(ListAccounts.self, .init())
            server.inspector.enter("org.example.Game")
            let sandboxed = try await server.connect()
            _ = try await sandboxed.refusal(of: AcquireTokenSilent.self, params)
            #expect(try await sandboxed.refusal(of: ListAudit.self, .init())?.data?.kind == .accessDenied)
            server.inspector.enter(nil)
            let log = try await client.call(ListAudit.self, .init())
            #expect(log.intact)
            // Two requests on two connections end in any order.
            let told = log.entries.map { "\($0.method) \($0.outcome) \($0.count)" }
            #expect(
                Set(told) == [
                    "broker.start done 1", "apps.register done 1", "interaction.complete done 1",
                    "token.acquireInteractive issued 1", "token.acquireSilent cached 3",
                    "token.acquireSilent appNotFound 1",
                    "token.acquireSilent grantRequired 1", "audit.list accessDenied 1",
                ])
            let issued = try #require(log.entries.first { $0.outcome == "issued" })
            let account = try #require(try await client.call(ListAccounts.self, .init()).accounts.first)
            #expect(issued.account == account.id && issued.scopes?.contains("read") == true && issued.app == "mail")
            let asked = try #require(log.entries.first { $0.outcome == "grantRequired" })
            #expect(asked.caller == CallerIdentity(tier: .sandboxed, id: "flatpak:org.example.Game"))
            #expect(asked.facts?["rootMount"] == "other")
        }
    }

    @Test("proofs for a token, however many, are no entries beside the token's")
    func proofs() async throws {
        try await ServerBed.run { server in
            server.provider.offer { $0.dpopAlgorithms = ["ES256"] }
            server.provider.bindTokens()
            try await server.register("mail")
            let client = try await server.connect()
            var params = AcquireTokenInteractive.Params(.registered("mail"), scopes: ["read"])
            params.query.tokenType = .dpop
            try await client.send(AcquireTokenInteractive.requestLine(id: 1, params))
            let opening = try await client.readOpening()
            _ = try await server.connect().call(CompleteInteraction.self, .init(url: opening.redirect(code: "ann")))
            #expect(try Token(reading: try await client.readResult()).tokenType == .dpop)
            let call = ProveToken.Params(.registered("mail"), httpMethod: "GET", url: "https://api.example/mail")
            for _ in 0..<3 { #expect(try await !client.call(ProveToken.self, call).proof.isEmpty) }
            let told = try await client.call(ListAudit.self, .init()).entries.map { "\($0.method) \($0.outcome)" }
            #expect(told.contains("token.acquireInteractive issued"))
            #expect(!told.contains { $0.hasPrefix(ProveToken.name) })
        }
    }

    @Test("changes to an app are found by its name")
    func byApp() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            try await server.register("other")
            let client = try await server.connect()
            _ = try await client.call(RemoveApp.self, .init(name: "mail"))
            _ = try await client.refusal(of: RemoveApp.self, .init(name: "mail"))
            var params = ListAudit.Params()
            params.app = "mail"
            let log = try await client.call(ListAudit.self, params)
            #expect(
                log.entries.map { "\($0.method) \($0.outcome)" }
                    == ["apps.register done", "apps.remove done", "apps.remove appNotFound"])
        }
    }

    @Test("an account's deletion by its provider is an entry of the broker, next to the request that got it")
    func deletedAccount() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            let account = try #require(try await client.call(ListAccounts.self, .init()).accounts.first)
            server.provider.whenRedeeming { _ throws(ProviderError) in
                throw .refused(OAuthRefusal(error: "invalid_grant", subError: "user_account_deleted", status: 400))
            }
            var params = AcquireTokenSilent.Params(.registered("mail"), scopes: ["read"])
            params.forceRefresh = true
            let refusal = try await client.refusal(of: AcquireTokenSilent.self, params)
            #expect(refusal?.data?.reason == .accountDeleted)
            #expect(try await client.call(ListAccounts.self, .init()).accounts.isEmpty)
            let log = try await client.call(ListAudit.self, .init())
            let entry = try #require(log.entries.first { $0.method == "accounts.remove" })
            #expect(entry.caller == nil && entry.outcome == "done" && entry.app == "mail")
            #expect(entry.account == account.id)
            #expect(entry.detail == "login.example says that the account was deleted")
            #expect(log.entries.contains { $0.reason == "accountDeleted" && $0.caller != nil })
            #expect(log.intact)
        }
    }
}

import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Grants over a real socket")
struct GrantTests {
    private static let game = CallerIdentity(tier: .sandboxed, id: "flatpak:org.example.Game")

    /// A broker with a signed-in app, and a connection from a sandbox.
    private func run(_ body: (ServerBed, LineClient) async throws -> Void) async throws {
        try await ServerBed.runSignedIn { server in
            server.inspector.enter("org.example.Game")
            let sandboxed = try await server.connect()
            // The caller has its slot once it is served; an answer shows that it is.
            _ = try await sandboxed.call(GetBrokerStatus.self, .init())
            server.inspector.enter(nil)
            try await body(server, sandboxed)
        }
    }

    private func ask(
        _ client: LineClient, _ scopes: [String] = ["read"],
        _ change: (inout AcquireTokenSilent.Params) -> Void = { _ in }
    ) async throws -> ErrorData? {
        var params = AcquireTokenSilent.Params(.registered("mail"), scopes: scopes)
        change(&params)
        return try await client.refusal(of: AcquireTokenSilent.self, params)?.data
    }

    private func approve(
        _ server: ServerBed, _ request: String, _ change: (inout ApproveGrant.Params) -> Void = { _ in }
    ) async throws -> Grant {
        var params = ApproveGrant.Params()
        params.request = request
        change(&params)
        return try await server.connect().call(ApproveGrant.self, params).grant
    }

    @Test("a sandboxed caller needs a grant, and then gets the cached token on the same connection")
    func approved() async throws {
        try await run { server, sandboxed in
            let error = try await ask(sandboxed)
            #expect(
                error?.kind == .grantRequired && error?.app == "mail" && error?.caller == "flatpak:org.example.Game")
            let request = try #require(error?.grantRequest)
            let listed = try await server.connect().call(ListGrants.self, .init())
            #expect(listed.requests.map(\.id) == [request] && listed.requests.first?.caller == Self.game)
            #expect(listed.requests.first?.facts["rootMount"] == "other")
            let grant = try await approve(server, request)
            #expect(grant.caller == Self.game && grant.scopes == ["read"])
            #expect(try await ask(sandboxed) == nil)
            #expect(try await server.connect().call(ListGrants.self, .init(app: "mail")).grants.map(\.uses) == [1])
            #expect(try await server.connect().call(ListGrants.self, .init(app: "notes")).grants.isEmpty)
            _ = try await server.connect().call(RevokeGrant.self, .init(id: grant.id))
            #expect(try await ask(sandboxed)?.kind == .grantRequired)
        }
    }

    @Test("a request for the person's identity alone does not ask for the app's usual scopes")
    func identityAlone() async throws {
        try await run { server, sandboxed in
            var app = RegisterApp.Params(name: "notes", clientId: "client-of-notes", authority: ServerBed.authority)
            app.description.scopes = ["read", "write"]
            _ = try await server.connect().call(RegisterApp.self, app)
            try await server.signIn("ann", to: "notes", scopes: ["read", "write"])
            var params = AcquireTokenSilent.Params.of("notes", ["read"])
            let refusal = try await sandboxed.refusal(of: AcquireTokenSilent.self, params)
            _ = try await approve(server, try #require(refusal?.data?.grantRequest))
            params.query.scopes = []
            let usual = try await sandboxed.refusal(of: AcquireTokenSilent.self, params)
            #expect(usual?.data?.kind == .grantRequired)
            params.query.isNarrow = true
            let token = try await sandboxed.call(AcquireTokenSilent.self, params)
            #expect(!token.scopes.contains("read") && !token.scopes.contains("write"))
        }
    }

    @Test("a sandboxed caller does not see the registered apps, as they name programs of the person")
    func apps() async throws {
        try await run { _, sandboxed in
            let refusal = try await sandboxed.refusal(of: ListApps.self, .init())
            #expect(refusal?.data?.kind == .accessDenied)
        }
    }

    @Test("a grant can be given to a named caller in advance, without a question")
    func inAdvance() async throws {
        try await run { server, sandboxed in
            var params = ApproveGrant.Params()
            (params.caller, params.app) = (Self.game, "mail")
            _ = try await server.connect().call(ApproveGrant.self, params)
            #expect(try await ask(sandboxed) == nil)
            #expect(try await server.connect().call(ListGrants.self, .init()).requests.isEmpty)
        }
    }

    @Test("params with both a request and a caller, or half a caller, are refused with the field")
    func wrongParams() async throws {
        try await run { server, _ in
            let client = try await server.connect()
            for (params, field) in [
                ("{}", "request"), (#"{"app":"mail"}"#, "caller"),
                (#"{"caller":{"tier":"sandboxed","id":"x"}}"#, "app"), (#"{"request":"x","app":"mail"}"#, "app"),
                (#"{"caller":{"tier":"sandboxed","id":"x","zz":1},"app":"mail"}"#, "caller.zz"),
                (#"{"caller":{"tier":"zz","id":"x"},"app":"mail"}"#, "caller.tier"),
                (#"{"caller":{"id":"x"},"app":"mail"}"#, "caller.tier"),
            ] {
                let line = #"{"jsonrpc":"2.0","id":1,"method":"grants.approve","params":\#(params)}"#
                let error = try await client.refusal(line)
                #expect(error.code == -32602 && error.data?.field == field)
            }
            for method in ["approve", "deny"] {
                let line = #"{"jsonrpc":"2.0","id":1,"method":"grants.\#(method)","params":{"request":"nothing"}}"#
                let error = try await client.refusal(line)
                #expect(error.data?.kind == .invalidParameter && error.message.contains("brokerctl grants list"))
            }
        }
    }

    @Test("a grant for one account covers its tokens only, and selects it if the app does not")
    func account() async throws {
        try await run { server, sandboxed in
            let bob = try await server.signIn("bob", to: "mail").account
            let request = try #require(try await ask(sandboxed)?.grantRequest)
            let grant = try await approve(server, request) { $0.account = .username("Bob") }
            #expect(grant.accountID == bob.id)
            let token = try await sandboxed.call(AcquireTokenSilent.self, .of("mail"))
            #expect(token.account.id == bob.id)
            #expect(try await ask(sandboxed) { $0.account = .username("ann") }?.kind == .grantRequired)
            let list = try await sandboxed.refusal(of: ListAccounts.self, .init(.registered("mail")))
            #expect(list?.data?.kind == .grantRequired)
        }
    }

    @Test("an app with a secret is not granted for an account at another issuer of its host")
    func otherIssuer() async throws {
        try await ServerBed.run { server in
            for name in ["notes", "mail"] {
                var app = RegisterApp.Params(
                    name: name, clientId: "client-of-\(name)", authority: "\(ServerBed.authority)/\(name)")
                app.description.group = "office"
                app.clientSecret = name == "mail" ? "of the client" : nil
                _ = try await server.connect().call(RegisterApp.self, app)
            }
            let ann = try await server.signIn("ann", to: "notes").account
            server.inspector.enter("org.example.Game")
            let request = try #require(try await ask(server.connect())?.grantRequest)
            server.inspector.enter(nil)
            var params = ApproveGrant.Params()
            (params.request, params.account) = (request, .id(ann.id))
            let refusal = try await server.connect().refusal(of: ApproveGrant.self, params)
            #expect(refusal?.data?.kind == .accountNotFound)
        }
    }

    @Test("a request that names an account by its username is for that account, or for nobody")
    func username() async throws {
        try await run { server, sandboxed in
            let bob = try await server.signIn("bob", to: "mail").account
            let request = try #require(try await ask(sandboxed) { $0.account = .username("BOB") }?.grantRequest)
            let listed = try await server.connect().call(ListGrants.self, .init()).requests
            #expect(listed.map(\.accountID) == [bob.id])
            #expect(try await approve(server, request).accountID == bob.id)
            #expect(try await ask(sandboxed) { $0.account = .username("bob") } == nil)
            #expect(try await ask(sandboxed) { $0.account = .username("ann") }?.kind == .grantRequired)
        }
        try await run { server, sandboxed in
            let request = try #require(try await ask(sandboxed) { $0.account = .username("eve") }?.grantRequest)
            #expect(try await approve(server, request).accountID == "username:eve")
            #expect(try await ask(sandboxed) { $0.account = .username("eve") }?.kind == .accountNotFound)
            #expect(try await ask(sandboxed) { $0.account = .username("ann") }?.kind == .grantRequired)
        }
    }

    @Test("a token with more scopes than granted is not returned, whether cached or new")
    func scopes() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            try await server.signIn("ann", to: "mail", scopes: ["read", "write"])
            server.inspector.enter("org.example.Game")
            let sandboxed = try await server.connect()
            let request = try #require(try await ask(sandboxed, ["read"])?.grantRequest)
            server.inspector.enter(nil)
            _ = try await approve(server, request)
            let token = try await sandboxed.call(AcquireTokenSilent.self, .of("mail", ["read"]))
            #expect(!token.scopes.contains("write") && !token.fromCache)
            #expect(try await ask(sandboxed, ["write"])?.kind == .grantRequired)
        }
    }

    @Test("a token of another resource is not returned for the granted scopes")
    func resources() async throws {
        try await run { server, sandboxed in
            let request = try #require(try await ask(sandboxed)?.grantRequest)
            _ = try await approve(server, request)
            for scopes in [["read"], ["email"]] {
                let error = try await ask(sandboxed, scopes) { $0.resources = ["https://other.example"] }
                #expect(error?.kind == .grantRequired)
            }
            let further = try #require(
                try await ask(sandboxed) { $0.resources = ["https://other.example"] }?.grantRequest)
            let grant = try await approve(server, further)
            #expect(grant.scopes == ["read", "https://other.example"])
            #expect(try await ask(sandboxed) { $0.resources = ["https://other.example"] } == nil)
        }
    }

    @Test("a request without a resource gets no token of a sign-in with some, as it may be good at any")
    func namingNone() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            try await server.signIn("ann", to: "mail", resources: ["https://other.example"])
            server.inspector.enter("org.example.Game")
            let sandboxed = try await server.connect()
            let request = try #require(try await ask(sandboxed)?.grantRequest)
            server.inspector.enter(nil)
            let grant = try await approve(server, request)
            #expect(grant.scopes == ["read"])
            // The first is refreshed; the second uses the result, and one more refresh spends its successor.
            for isForced in [false, false, true] {
                let error = try await ask(sandboxed) { $0.forceRefresh = isForced }
                #expect(error?.kind == .grantRequired)
            }
            // An unlimited caller is served.
            let own = try await server.connect().call(AcquireTokenSilent.self, .of("mail"))
            #expect(own.scopes.contains("read"))
            // A sign-in without a resource is a separate grant.
            try await server.signIn("ann", to: "mail")
            #expect(try await ask(sandboxed) == nil)
        }
    }

    @Test("a caller with a grant for one account cannot sign in another, and the tokens are revoked")
    func deviceCode() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            try await server.signIn("bob", to: "mail")
            server.inspector.enter("org.example.Game")
            let sandboxed = try await server.connect()
            let request = try #require(try await ask(sandboxed)?.grantRequest)
            server.inspector.enter(nil)
            _ = try await approve(server, request) { $0.account = .username("bob") }
            let params = AcquireTokenByDeviceCode.Params(.registered("mail"), scopes: ["read"])
            try await sandboxed.send(AcquireTokenByDeviceCode.requestLine(id: 1, params))
            #expect(try await sandboxed.readJSON()["method"]?.value == "interaction.deviceCode")
            // In addition to the grant's use, which is written later.
            try await server.clock.waitForSleepers(2)
            server.clock.advance(bySeconds: 5)
            #expect(try await sandboxed.readRefusal()?.data?.kind == .mismatchedUser)
            try await eventually("the tokens are given back") { !server.provider.revoked.isEmpty }
            let accounts = try await server.connect().call(ListAccounts.self, .init(.registered("mail"))).accounts
            #expect(accounts.map(\.username) == ["bob"])
        }
    }

    @Test("a denied caller is refused for a while without a new request")
    func denied() async throws {
        try await run { server, sandboxed in
            let request = try #require(try await ask(sandboxed)?.grantRequest)
            #expect(try await server.connect().call(DenyGrant.self, .init(request: request)).denied)
            let error = try await ask(sandboxed)
            #expect(error?.kind == .accessDenied && error?.reason == .grantDenied && error?.retryAfter == 600)
            #expect(try await server.connect().call(ListGrants.self, .init()).requests.isEmpty)
        }
    }

    @Test("a sandbox's second wait is refused if both together exceed one request, and the first continues")
    func noCircle() async throws {
        try await ServerBed.runSignedIn { server in
            let person = try await server.connect()
            _ = try await person.call(Subscribe.self, .init([.grant]))
            server.inspector.enter("org.example.Game")
            func wait(_ name: String) async throws -> LineClient {
                var params = AcquireTokenSilent.Params.of("mail", (0..<60).map { "\(name)-\($0)" })
                params.waitForGrant = 300
                let client = try await server.connect()
                try await client.send(AcquireTokenSilent.requestLine(id: 1, params))
                return client
            }
            let first = try await wait("a")
            guard case .string(let request)? = try await first.readJSON()["params"]?["grantRequest"] else {
                throw Unread()
            }
            for name in ["b", "c", "d"] {
                #expect(try await wait(name).readRefusal()?.data?.kind == .throttled)
            }
            #expect(try await person.readJSON()["method"]?.value == "event.grant")
            server.inspector.enter(nil)
            let listed = try await person.call(ListGrants.self, .init()).requests
            #expect(listed.map(\.id) == [request])
        }
    }

    private struct Unread: Error {}

    @Test("a waiting request is notified of the question, and gets its token when the person agrees")
    func waits() async throws {
        try await run { server, sandboxed in
            var params = AcquireTokenSilent.Params.of("mail")
            params.waitForGrant = 60
            params.correlationId = "c-1"
            try await sandboxed.send(AcquireTokenSilent.requestLine(id: 7, params))
            let notice = try await sandboxed.readJSON()
            #expect(notice["method"]?.value == "interaction.grant")
            let told = try InteractionGrant.Params(reading: try #require(notice["params"]))
            #expect(told.app == "mail" && told.correlationId == "c-1" && told.expiresOn == server.clock.now + 60)
            _ = try await approve(server, told.grantRequest)
            #expect(try Token(reading: try await sandboxed.readResult()).account.username == "ann")
        }
    }

    @Test("a waiting request is refused if the person refuses, and asked again if there is no answer")
    func waitsInVain() async throws {
        try await run { server, sandboxed in
            var params = AcquireTokenSilent.Params.of("mail")
            params.waitForGrant = 60
            try await sandboxed.send(AcquireTokenSilent.requestLine(id: 1, params))
            let told = try await sandboxed.readEvent(InteractionGrant.self)
            try await server.clock.waitForSleepers()
            server.clock.advance(bySeconds: 60)
            #expect(try await sandboxed.readRefusal()?.data?.grantRequest == told.grantRequest)
            try await sandboxed.send(AcquireTokenSilent.requestLine(id: 2, params))
            #expect(try await sandboxed.readEvent(InteractionGrant.self).grantRequest == told.grantRequest)
            _ = try await server.connect().call(DenyGrant.self, .init(request: told.grantRequest))
            #expect(try await sandboxed.readRefusal()?.data?.reason == .grantDenied)
        }
    }

    @Test("a sign-in that waits for a grant continues in the browser when the person agrees")
    func waitsInteractive() async throws {
        try await run { server, sandboxed in
            var params = AcquireTokenInteractive.Params(.registered("mail"), scopes: ["read"])
            params.waitForGrant = 60
            try await sandboxed.send(AcquireTokenInteractive.requestLine(id: 1, params))
            _ = try await approve(server, try await sandboxed.readEvent(InteractionGrant.self).grantRequest)
            let opening = try await sandboxed.readOpening()
            _ = try await server.connect().call(CompleteInteraction.self, .init(url: opening.redirect(code: "ann")))
            #expect(try Token(reading: try await sandboxed.readResult()).account.username == "ann")
        }
    }

    @Test("a sign-in whose grant is revoked meanwhile returns no token")
    func revokedMeanwhile() async throws {
        try await run { server, sandboxed in
            let request = try #require(try await ask(sandboxed)?.grantRequest)
            let grant = try await approve(server, request)
            let params = AcquireTokenInteractive.Params(.registered("mail"), scopes: ["read"])
            try await sandboxed.send(AcquireTokenInteractive.requestLine(id: 1, params))
            let opening = try await sandboxed.readOpening()
            _ = try await server.connect().call(RevokeGrant.self, .init(id: grant.id))
            _ = try await server.connect().call(CompleteInteraction.self, .init(url: opening.redirect(code: "ann")))
            #expect(try await sandboxed.readRefusal()?.data?.kind == .accessDenied)
        }
    }

    @Test("the person's own tools are notified of requests and answers, but apps are not")
    func events() async throws {
        try await run { server, sandboxed in
            let subscriber = try await server.connect()
            _ = try await subscriber.call(Subscribe.self, .init([.grant]))
            let request = try #require(try await ask(sandboxed)?.grantRequest)
            let asked = try await subscriber.readEvent(GrantNotification.self)
            #expect(asked.change == .requested && asked.request?.id == request)
            let grant = try await approve(server, request)
            let approved = try await subscriber.readEvent(GrantNotification.self)
            #expect(approved.change == .approved && approved.grant?.id == grant.id && approved.request?.id == request)
            _ = try await server.connect().call(RevokeGrant.self, .init(id: grant.id))
            #expect(try await subscriber.readEvent(GrantNotification.self).change == .revoked)
        }
    }

    @Test("status shows the caller's own identity, and the person sees all connected callers")
    func status() async throws {
        try await run { server, sandboxed in
            server.inspector.enter("org.example.Game")
            let own = try await sandboxed.call(GetBrokerStatus.self, .init()).caller
            #expect(own?.identity == Self.game && own?.administers == false)
            #expect(try await sandboxed.refusal(of: ListCallers.self, .init())?.data?.kind == .accessDenied)
            server.inspector.enter(nil)
            let callers = try await server.connect().call(ListCallers.self, .init()).callers
            let game = try #require(callers.first { $0.identity == Self.game })
            #expect(!game.administers && game.facts["flatpak"] == "flatpak:org.example.Game")
            #expect(callers.last?.administers == true)
        }
    }
}

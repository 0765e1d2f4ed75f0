import BrokerAccess
import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Glibc
import Testing

@Suite("broker.subscribe over a real socket")
struct EventTests {
    @Test("a subscriber gets events for a sign-in and its tokens, in order, and no secret")
    func signIn() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            let subscriber = try await server.connect()
            let subscribed = try await subscriber.call(Subscribe.self, .init([.token, .account])).subscribed
            #expect(subscribed == [.account, .token])
            let token = try await server.signIn("ann", to: "mail")
            let first = try await subscriber.readEvent(AccountEvent.self)
            #expect(first.change == .signedIn && first.app == "mail" && first.account == token.account)
            let line = try #require(try await subscriber.readLine())
            #expect(line.contains("event.token") && !line.contains(token.accessToken))
            _ = try await server.connect().call(RemoveAccount.self, .init(.username("ann"), from: .registered("mail")))
            let last = try await subscriber.readEvent(AccountEvent.self)
            #expect(last.change == .removed && !last.account.signedIn)
        }
    }

    @Test("a subscriber is notified of events on another connection")
    func otherConnection() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            let subscriber = try await server.connect()
            _ = try await subscriber.call(Subscribe.self, .init([.account]))
            let other = try await server.connect()
            _ = try await other.call(GetBrokerStatus.self, Empty())
            _ = try await server.signIn("ann", to: "mail")
            #expect(try await subscriber.readEvent(AccountEvent.self).change == .signedIn)
            _ = try await other.call(RemoveAccount.self, .init(.username("ann"), from: .registered("mail")))
            #expect(try await subscriber.readEvent(AccountEvent.self).change == .removed)
        }
    }

    @Test("a refresh is an event for a new token, not for a new sign-in")
    func refresh() async throws {
        try await ServerBed.runSignedIn { server in
            let subscriber = try await server.connect()
            _ = try await subscriber.call(Subscribe.self, .init([.account, .token]))
            var params = AcquireTokenSilent.Params(.registered("mail"), scopes: ["read"])
            params.forceRefresh = true
            _ = try await server.connect().call(AcquireTokenSilent.self, params)
            #expect(try await subscriber.readEvent(TokenEvent.self).change == .acquired)
        }
    }

    @Test("a waiting sign-in and its end are events, with the id that cancels it")
    func interaction() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            let subscriber = try await server.connect()
            _ = try await subscriber.call(Subscribe.self, .init([.interaction]))
            let client = try await server.connect()
            let params = AcquireTokenInteractive.Params(.registered("mail"), scopes: ["read"])
            try await client.send(AcquireTokenInteractive.requestLine(id: 1, params))
            let opened = try await subscriber.readEvent(InteractionEvent.self)
            #expect(opened.change == .opened && opened.app == "mail")
            let cancelled = try await subscriber.call(
                CancelInteraction.self, .init(interactionId: opened.interactionId)
            ).cancelled
            #expect(cancelled)
            let ended = try await subscriber.readEvent(InteractionEvent.self)
            #expect(ended.change == .failed && ended.errorKind == .userCanceled)
        }
    }

    @Test("an app gets events of its own group only, and a sandboxed caller must name its app")
    func groups() async throws {
        try await ServerBed.run { server in
            try await server.register("mail", group: "office")
            try await server.register("game")
            let game = try await server.connect()
            _ = try await game.call(Subscribe.self, .init([.account], of: .registered("game")))
            try await server.signIn("ann", to: "mail")
            try await server.signIn("bob", to: "game")
            #expect(try await game.readEvent(AccountEvent.self).account.username == "bob")
        }
        try await ServerBed.run(inspector: PlainInspector(sandboxID: "org.example.Game")) { server in
            let refusal = try await server.connect().refusal(of: Subscribe.self, .init([.account]))
            #expect(refusal?.data?.kind == .accessDenied)
        }
    }

    /// Opens a socket for one app of the group `office`, which has two.
    private func box(_ server: ServerBed, for app: String = "mail", id: String = "box") async throws -> LineClient {
        var sandbox = Sandbox(engine: "bubblewrap", id: id, rights: SandboxRight.allCases)
        sandbox.apps = [app]
        let path = try await server.connect().call(OpenSandbox.self, .init(sandbox)).path
        return try await LineClient.connect(to: path)
    }

    @Test("a sandbox for one app gets events of that app only, and a program outside those of its group")
    func ownApp() async throws {
        try await ServerBed.run { server in
            for app in ["mail", "wiki"] { try await server.register(app, group: "office") }
            let inside = try await box(server)
            let outside = try await server.connect()
            for client in [inside, outside] {
                _ = try await client.call(Subscribe.self, .init([.account, .interaction], of: .registered("mail")))
            }
            try await server.signIn("ann", to: "wiki")
            #expect(try await outside.readEvent(InteractionEvent.self).app == "wiki")
            // An event would precede this answer.
            _ = try await inside.call(GetBrokerStatus.self, Empty())
            try await server.signIn("ann", to: "mail")
            let first = try await inside.readEvent(InteractionEvent.self)
            #expect(first.app == "mail" && first.change == .opened)
        }
    }

    @Test("a sandbox can neither join another's sign-in, nor end or complete it, but can end its own")
    func othersInteractions() async throws {
        try await ServerBed.run { server in
            for app in ["mail", "wiki"] { try await server.register(app, group: "office") }
            let params = AcquireTokenInteractive.Params(.registered("wiki"), scopes: ["read"])
            let outside = try await server.connect()
            try await outside.send(AcquireTokenInteractive.requestLine(id: 1, params))
            let wanted = try await outside.readOpening()
            let inside = try await box(server)
            let cancel = CancelInteraction.Params(interactionId: wanted.interactionID)
            #expect(try await inside.call(CancelInteraction.self, cancel).cancelled == false)
            for url in [wanted.redirect(code: "eve"), wanted.redirect(code: "eve") + "&error=access_denied"] {
                let refusal = try await inside.refusal(of: CompleteInteraction.self, .init(url: url))
                #expect(refusal?.data?.kind == .invalidParameter)
            }
            // The same request of a sandbox has a window of its own.
            let twin = try await box(server, for: "wiki", id: "twin")
            try await twin.send(AcquireTokenInteractive.requestLine(id: 1, params))
            #expect(try await twin.readOpening().interactionID != wanted.interactionID)
            // A second sandbox of the same app is separate, too.
            let own = AcquireTokenInteractive.Params(.registered("mail"), scopes: ["read"])
            try await inside.send(AcquireTokenInteractive.requestLine(id: 2, own))
            let opened = try await inside.readOpening()
            let other = try await box(server, id: "other")
            let ownCancel = CancelInteraction.Params(interactionId: opened.interactionID)
            #expect(try await other.call(CancelInteraction.self, ownCancel).cancelled == false)
            try await inside.send(CancelInteraction.requestLine(id: 3, ownCancel))
            var answers: [JSONNode] = []
            for _ in 0..<2 { answers.append(try await inside.readJSON()) }
            let isCancelled = answers.contains {
                if case .bool(true)? = $0["result"]?["cancelled"] { true } else { false }
            }
            #expect(isCancelled, "\(answers)")
            // The one outside still waits, and is completed by its own redirect.
            _ = try await server.connect().call(CompleteInteraction.self, .init(url: wanted.redirect(code: "ann")))
            #expect(try Token(reading: try await outside.readResult()).account.username == "ann")
        }
    }

    @Test("a removed app gets no more events of its group")
    func removedApp() async throws {
        try await ServerBed.run { server in
            try await server.register("mail", group: "office")
            try await server.register("game", group: "office")
            let game = try await server.connect()
            _ = try await game.call(Subscribe.self, .init([.account], of: .registered("game")))
            try await server.signIn("ann", to: "mail")
            #expect(try await game.readEvent(AccountEvent.self).account.username == "ann")
            _ = try await server.connect().call(RemoveApp.self, .init(name: "game"))
            try await server.signIn("bob", to: "mail")
            // An event would precede this answer.
            _ = try await game.call(GetBrokerStatus.self, Empty())
        }
    }

    @Test("a listener for all events gets none while administration needs more proof than it has")
    func proofAskedFor() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            let subscriber = try await server.connect()
            _ = try await subscriber.call(Subscribe.self, .init([.account, .grant]))
            try await server.signIn("ann", to: "mail")
            #expect(try await subscriber.readEvent(AccountEvent.self).account.username == "ann")
            var settings = AccessSettings(servedUID: getuid())
            settings.adminProof = .group(getgid() + 1)
            server.policy.apply(settings)
            try await server.signIn("bob", to: "mail")
            server.inspector.enter("org.example.Game")
            let ask = AcquireTokenSilent.Params(.registered("mail"), scopes: ["read"])
            let refusal = try await server.connect().refusal(of: AcquireTokenSilent.self, ask)
            #expect(refusal?.data?.grantRequest != nil)
            server.inspector.enter(nil)
            settings.adminProof = .group(getgid())
            server.policy.apply(settings)
            try await server.signIn("cem", to: "mail")
            #expect(try await subscriber.readEvent(AccountEvent.self).account.username == "cem")
        }
    }

    @Test("an empty list of topics ends the subscription, and an unknown topic is an error with the field")
    func topics() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            let subscriber = try await server.connect()
            _ = try await subscriber.call(Subscribe.self, .init([.account]))
            #expect(try await subscriber.call(Subscribe.self, .init([])).subscribed == [])
            try await server.signIn("ann", to: "mail")
            // An event would precede this answer.
            #expect(try await subscriber.call(Subscribe.self, .init([.token])).subscribed == [.token])
            let refusal = try await subscriber.refusal(
                #"{"jsonrpc":"2.0","id":1,"method":"broker.subscribe","params":{"topics":["weather"]}}"#)
            #expect(refusal.code == -32602 && refusal.message.contains("topics"))
        }
    }
}

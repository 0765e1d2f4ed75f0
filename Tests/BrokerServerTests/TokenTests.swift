import BrokerModel
import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Tokens over a real socket")
struct TokenTests {
    @Test("a sign-in opens the page, takes the redirect and answers, and later tokens are cached")
    func signInThenSilent() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            let client = try await server.connect()
            var params = AcquireTokenInteractive.Params(.registered("mail"), scopes: ["read"])
            params.correlationId = "my-id"
            try await client.send(AcquireTokenInteractive.requestLine(id: 5, params))
            let opening = try await client.readOpening()
            #expect(opening.correlationID == "my-id")
            #expect(opening.url.hasPrefix("\(ServerBed.authority)/authorize?"))
            #expect(opening.expiresOn == server.clock.now + 300)
            // On the same connection: the waiting request does not block it.
            try await client.send(CompleteInteraction.requestLine(id: 6, .init(url: opening.redirect(code: "ann"))))
            var answers: [String: JSONNode] = [:]
            for _ in 0..<2 {
                let answer = try await client.readJSON()
                if case .number(let id)? = answer["id"] { answers[id] = answer["result"] }
            }
            #expect(answers["6"]?["accepted"]?.value == true)
            let first = try Token(reading: try #require(answers["5"]))
            #expect(first.accessToken == "at-1")
            #expect(first.authorizationHeader == "Bearer at-1")
            #expect(first.idToken == "ann")
            #expect(first.correlationId == "my-id")
            #expect(!first.fromCache && first.persisted && !first.extendedLifetime)
            #expect(first.expiresOn == server.clock.now + 3600)

            let again = try await client.call(AcquireTokenSilent.self, .of("mail"))
            #expect(again.accessToken == first.accessToken)
            #expect(again.idToken == first.idToken)
            #expect(again.account == first.account)
            #expect(again.account.username == "ann")
            #expect(again.account.name == "The \"ann\"")
            #expect(again.fromCache)
            #expect(again.correlationId != first.correlationId)
            #expect(server.provider.refreshes.count == 0)
        }
    }

    @Test("cached tokens and other requests are answered while a refresh hangs on the same connection")
    func interleaved() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.holdRefresh(id: 99)
            for id in 1...20 {
                try await client.send(AcquireTokenSilent.requestLine(id: Int64(id), .of("mail")))
                #expect(try await client.readJSON()["id"]?.value == .integer(Int64(id)))
            }
            #expect(try await client.call(GetBrokerStatus.self, Empty()).refreshesInFlight == 1)
            server.provider.refreshGate.open()
            let late = try await client.readJSON()
            #expect(late["id"]?.value == 99)
            #expect(late["result"]?["accessToken"]?.value == "at-2")
        }
    }

    @Test("a thousand pipelined requests for one expired token cause one refresh, and all are answered")
    func thousand() async throws {
        try await ServerBed.runSignedIn { server in
            server.clock.advance(bySeconds: 4000)
            server.provider.refreshGate.close()
            let client = try await server.connect()
            let lines = (1...1000).flatMap { AcquireTokenSilent.requestLine(id: $0, .of("mail")) }
            async let sent: Void = client.send(lines)
            try await server.provider.refreshGate.waitForCallers()
            // Others are served although this connection has its maximum in progress.
            _ = try await server.connect().call(GetBrokerStatus.self, Empty())
            server.provider.refreshGate.open()
            try await sent
            var ids: Set<Int64> = []
            for line in try await client.readLines(1000) {
                let answer = try JSONReader.read(line.utf8)
                #expect(answer["result"]?["accessToken"]?.value == "at-2")
                ids.insert(answer["id"]?.value.integerValue ?? 0)
            }
            #expect(ids == Set(1...1000))
            #expect(server.provider.refreshes.count == 1)
        }
    }

    @Test("while sixty-four requests wait, the next line waits too, and nothing is lost")
    func backpressure() async throws {
        try await ServerBed.runSignedIn { server in
            server.provider.refreshGate.close()
            let client = try await server.connect()
            var slow = AcquireTokenSilent.Params.of("mail")
            slow.forceRefresh = true
            for id in 1...64 { try await client.send(AcquireTokenSilent.requestLine(id: Int64(id), slow)) }
            try await client.send(DiscoverMethods.requestLine(id: 65, Empty()))
            try await server.provider.refreshGate.waitForCallers()
            for _ in 0..<20 { _ = try await server.connect().call(ListApps.self, Empty()) }
            server.provider.refreshGate.open()
            let ids = try await client.readLines(65).map { try JSONReader.read($0.utf8)["id"]?.value.integerValue ?? 0 }
            #expect(Set(ids) == Set(1...65))
            #expect(ids.first != 65)
        }
    }

    @Test("with presentation broker the broker opens the page, and the client gets only the answer")
    func brokerPresents() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            let client = try await server.connect()
            var params = AcquireTokenInteractive.Params(.registered("mail"), scopes: ["read"])
            params.presentation = .broker
            try await client.send(AcquireTokenInteractive.requestLine(id: 1, params))
            try await eventually("the browser opens") { server.browser.opened.count == 1 }
            let opening = InteractionOpening(
                interactionID: "", url: server.browser.opened[0], redirectURI: "http://127.0.0.1:50001/",
                expiresOn: 0, correlationID: "")
            _ = try await server.connect().call(CompleteInteraction.self, .init(url: opening.redirect(code: "bob")))
            #expect(try Token(reading: try await client.readResult()).account.username == "bob")
        }
    }

    @Test("the broker opens the page for a program on another machine, and says so to both sides")
    func elsewhere() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            let box = Sandbox(engine: "ssh", id: "devbox", apps: ["mail"], rights: [.token, .interactive])
            let path = try await server.connect().call(OpenSandbox.self, .init(box)).path
            let listener = try await server.connect()
            _ = try await listener.call(Subscribe.self, .init([.interaction]))
            let client = try await LineClient.connect(to: path)
            // It asks for the page's address, as clients do.
            try await client.send(
                AcquireTokenInteractive.requestLine(id: 1, .init(.registered("mail"), scopes: ["read"])))
            try await eventually("the browser opens") { server.browser.opened.count == 1 }
            let opening = InteractionOpening(
                interactionID: "", url: server.browser.opened[0], redirectURI: "http://127.0.0.1:50001/",
                expiresOn: 0, correlationID: "")
            #expect(try await client.readLine()?.contains("interaction.joined") == true)
            #expect(try await listener.readLine()?.contains(#""caller":"ssh:devbox""#) == true)
            _ = try await server.connect().call(CompleteInteraction.self, .init(url: opening.redirect(code: "bob")))
            #expect(try Token(reading: try await client.readResult()).account.username == "bob")
        }
    }

    @Test("a canceled sign-in reports so once, and a foreign redirect does not affect it")
    func cancel() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            let client = try await server.connect()
            let other = try await server.connect()
            try await client.send(
                AcquireTokenInteractive.requestLine(id: 1, .init(.registered("mail"), scopes: ["read"])))
            let opening = try await client.readOpening()
            let foreign = "\(opening.redirectURI)?code=eve&state=guessed"
            let refused = try await other.refusal(of: CompleteInteraction.self, .init(url: foreign))
            #expect(refused?.data?.kind == .invalidParameter)
            #expect(try await other.call(CancelInteraction.self, .init(interactionId: opening.interactionID)).cancelled)
            let error = try await client.readRefusal()
            #expect(error?.data?.kind == .userCanceled)
            #expect(
                try await !other.call(CancelInteraction.self, .init(interactionId: opening.interactionID)).cancelled)
        }
    }

    @Test("two connections with the same request share one page, and the second is notified")
    func joined() async throws {
        try await ServerBed.run { bed in
            try await bed.register("mail")
            let (one, two) = (try await bed.connect(), try await bed.connect())
            var params = AcquireTokenInteractive.Params(.registered("mail"), scopes: ["read"])
            params.correlationId = "first"
            try await one.send(AcquireTokenInteractive.requestLine(id: 1, params))
            let opening = try await one.readOpening()
            params.correlationId = "second"
            params.timeout = 60
            try await two.send(AcquireTokenInteractive.requestLine(id: 2, params))
            let line = try await two.readJSON()
            guard case .string(InteractionJoined.name)? = line["method"] else {
                throw LineClient.Unexpected(line: line)
            }
            let joining = try InteractionJoined.Params(reading: try #require(line["params"]))
            #expect(joining.interactionID == opening.interactionID)
            #expect(joining.correlationID == "second")
            #expect(joining.expiresOn == bed.clock.now + 60)
            _ = try await bed.connect().call(CompleteInteraction.self, .init(url: opening.redirect(code: "ann")))
            let tokens = [
                try Token(reading: try await one.readResult()), try Token(reading: try await two.readResult()),
            ]
            #expect(tokens[0].accessToken == tokens[1].accessToken)
            #expect(tokens.map(\.correlationId) == ["first", "second"])
        }
    }

    @Test("the end of a connection ends its own waiting sign-in only")
    func connectionEnds() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            let leaving = try await server.connect()
            let staying = try await server.connect()
            func request(_ scope: String) -> [UInt8] {
                AcquireTokenInteractive.requestLine(id: 1, .init(.registered("mail"), scopes: [scope]))
            }
            try await leaving.send(request("read"))
            try await staying.send(request("write"))
            let gone = try await leaving.readOpening()
            let kept = try await staying.readOpening()
            await leaving.close()
            let other = try await server.connect()
            try await eventually("the sign-in is over") {
                do {
                    _ = try await other.call(CompleteInteraction.self, .init(url: gone.redirect(code: "")))
                    return false
                } catch let error as RPCError {
                    return try await !other.call(CancelInteraction.self, .init(interactionId: gone.interactionID))
                        .cancelled
                        && error.data?.kind == .invalidParameter
                }
            }
            _ = try await other.call(CompleteInteraction.self, .init(url: kept.redirect(code: "ann")))
            #expect(try Token(reading: try await staying.readResult()).account.username == "ann")
        }
    }

    @Test("a token that does not open is a whole error, and the connection stays usable")
    func damaged() async throws {
        try await ServerBed.runSignedIn { server in
            server.vault.damage(Set(RecordKind.allCases))
            let client = try await server.connect()
            try await client.send(AcquireTokenSilent.requestLine(id: 3, .of("mail")))
            let error = try await client.readRefusal()
            #expect(error?.data?.kind == .internal)
            #expect(error?.data?.reason == .vaultDamaged)
            #expect(error?.data?.correlationID?.isEmpty == false)
            #expect(try await client.call(ListApps.self, Empty()).apps.count == 1)
        }
    }

    @Test("no sign-in, no app, no account and two accounts each have their own kind of error")
    func errors() async throws {
        try await ServerBed.run { server in
            let client = try await server.connect()
            func kind(_ params: AcquireTokenSilent.Params) async throws -> ErrorData? {
                try await client.send(AcquireTokenSilent.requestLine(id: 1, params))
                return try await client.readRefusal()?.data
            }
            #expect(try await kind(.of("mail"))?.kind == .appNotFound)
            try await server.register("mail")
            let empty = try await kind(.of("mail"))
            #expect(empty?.kind == .interactionRequired)
            #expect(empty?.reason == .noTokens)
            try await server.signIn("ann", to: "mail")
            try await server.signIn("bob", to: "mail")
            let ambiguous = try await kind(.of("mail"))
            #expect(ambiguous?.kind == .ambiguousAccount)
            #expect(ambiguous?.accounts?.map(\.username).sorted() == ["ann", "bob"])
            var params = AcquireTokenSilent.Params.of("mail")
            params.account = .username("eve")
            #expect(try await kind(params)?.kind == .accountNotFound)
            params.account = .username("BOB")
            #expect(try await client.call(AcquireTokenSilent.self, params).account.username == "bob")
            params.selection.authority = "http://login.example"
            #expect(try await kind(params)?.kind == .invalidAuthority)
        }
    }
}

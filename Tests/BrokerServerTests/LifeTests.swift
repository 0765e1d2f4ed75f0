import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Glibc
import Testing

@Suite("The life of a connection")
struct LifeTests {
    @Test("a connection whose last request waits is closed after the answer, whatever else was sent")
    func lastRequest() async throws {
        let others = Tally()
        try await ServerBed.run(front: { SingleRequestFront(base: $0, others: others) }) { server in
            let gate = Gate()
            server.vault.hold(until: gate)
            let client = try await server.connect()
            let params = RegisterApp.Params(name: "mail", clientId: "c", authority: ServerBed.authority)
            try await client.send(RegisterApp.requestLine(id: 1, params))
            try await server.vault.waitForHeld(1)
            try await client.send(ListApps.requestLine(id: 2, .init()))
            try await eventually("the other message has been read") { others.count == 1 }
            gate.open()
            _ = try await client.readResult()
            #expect(try await client.readLine() == nil)
        }
    }

    @Test("a peer of another uid gets one error and nothing else")
    func otherUser() async throws {
        try await ServerBed.run(servedUID: getuid() + 1) { server in
            let client = try await server.connect()
            let lines = try await client.readToEnd().split(separator: "\n")
            #expect(lines.count == 1)
            let answer = try JSONReader.read(try #require(lines.first).utf8)
            #expect(answer["id"]?.value == .null)
            let error = try RPCError(reading: try #require(answer["error"]))
            #expect(error.code == -32000)
            #expect(error.data?.kind == .accessDenied)
            #expect(error.data?.reason == .otherUser)
        }
    }

    @Test("at shutdown requests in progress are answered, new ones refused, and idle connections end")
    func draining() async throws {
        try await ServerBed.runSignedIn { server in
            let busy = try await server.holdRefresh()
            let idle = try await server.connect()
            _ = try await idle.call(ListApps.self, Empty())
            async let cutOff = server.listener.shutDown(within: .seconds(600))
            #expect(try await idle.readToEnd() == "")
            // This connection's thread may learn of it later.
            var answer: JSONNode
            repeat {
                try await busy.sendLine(#"{"jsonrpc":"2.0","id":2,"method":"apps.list"}"#)
                answer = try await busy.readJSON()
            } while answer["result"] != nil
            let refused = try RPCError(reading: try #require(answer["error"]))
            #expect(refused.data?.kind == .serverUnavailable)
            #expect(refused.data?.reason == .shuttingDown)
            #expect(refused.data?.retryable == true)
            server.provider.refreshGate.open()
            #expect(try await busy.readJSON()["result"]?["accessToken"]?.value == "at-2")
            #expect(try await busy.readLine() == nil)
            #expect(await cutOff == 0)
        }
    }

    @Test("other callers are answered while the starter of a brokerctl is inspected")
    func slowStarter() async throws {
        try await ServerBed.run { server in
            let inspector = server.inspector
            // Several connections at once.
            var others: [LineClient] = []
            for _ in 0..<8 {
                others.append(try await server.connect())
                _ = try await others.last?.call(DiscoverMethods.self, Empty())
            }
            inspector.takeForFronts(true)
            let front = try await server.connect()
            async let late = front.call(DiscoverMethods.self, Empty())
            try await eventually("the starter is looked at") { inspector.starters.count == 1 }
            for other in others { _ = try await other.call(DiscoverMethods.self, Empty()) }
            inspector.showStarter()
            _ = try await late
        }
    }

    @Test("a client that shuts its side still gets the answers to its requests")
    func halfClosed() async throws {
        try await ServerBed.runSignedIn { server in
            server.provider.refreshGate.close()
            let client = try await server.connect()
            var slow = AcquireTokenSilent.Params.of("mail")
            slow.forceRefresh = true
            try await client.send(AcquireTokenSilent.requestLine(id: 1, slow))
            await client.shutDownWriting()
            try await server.provider.refreshGate.waitForCallers()
            server.provider.refreshGate.open()
            #expect(try await client.readToEnd().contains("at-2"))
        }
    }

    @Test("a client that goes away does not cancel the refresh")
    func leaverKeepsRefresh() async throws {
        try await ServerBed.runSignedIn { server in
            server.clock.advance(bySeconds: 4000)
            server.provider.refreshGate.close()
            let leaving = try await server.connect()
            try await leaving.send(AcquireTokenSilent.requestLine(id: 1, .of("mail")))
            try await server.provider.refreshGate.waitForCallers()
            let staying = try await server.connect()
            try await staying.send(AcquireTokenSilent.requestLine(id: 2, .of("mail")))
            await leaving.close()
            try await eventually("the broker noticed") { server.listener.connectionCount == 1 }
            server.provider.refreshGate.open()
            #expect(try Token(reading: try await staying.readResult()).accessToken == "at-2")
            #expect(server.provider.refreshes.count == 1)
        }
    }
}

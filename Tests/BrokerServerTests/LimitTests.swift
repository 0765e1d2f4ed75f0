import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Testing

/// The test is one process, and so one caller for the limits.
@Suite("Limits of one program over a real socket")
struct LimitTests {
    private static func signIn(_ app: String, _ person: Int) -> AcquireTokenInteractive.Params {
        var params = AcquireTokenInteractive.Params(.registered(app), scopes: ["read"])
        params.interaction.loginHint = "person-\(person)"
        return params
    }

    @Test("waiting sign-ins are limited by app and by program, and one that ends makes room for another")
    func interactions() async throws {
        try await ServerBed.run { server in
            for app in ["mail", "calendar"] { try await server.register(app) }
            let client = try await server.connect()
            var openings: [InteractionOpening] = []
            for person in 0..<EngineSettings().openInteractionsEach {
                try await client.send(AcquireTokenInteractive.requestLine(id: 1, Self.signIn("mail", person)))
                openings.append(try await client.readOpening())
            }
            for (app, whose) in [("mail", "This app"), ("calendar", "This program or sandbox")] {
                let refused = try await server.connect().refusal(
                    of: AcquireTokenInteractive.self, Self.signIn(app, 1_000))
                #expect(refused?.data?.kind == .throttled && refused?.data?.reason == .tooManyInteractions)
                #expect(refused?.message.hasPrefix(whose) == true)
            }
            // A request for a sign-in already waiting takes no slot.
            let joining = try await server.connect()
            try await joining.send(AcquireTokenInteractive.requestLine(id: 1, Self.signIn("mail", 0)))
            let line = try await joining.readJSON()
            guard case .string(InteractionJoined.name)? = line["method"] else {
                throw LineClient.Unexpected(line: line)
            }
            _ = try await server.connect().call(
                CancelInteraction.self, .init(interactionId: try #require(openings.last).interactionID))
            let next = try await server.connect()
            try await next.send(AcquireTokenInteractive.requestLine(id: 1, Self.signIn("calendar", 1_001)))
            _ = try await next.readOpening()
        }
    }

    @Test("one user's requests in progress are limited over all connections, and waiting ones are answered")
    func requestsOfUser() async throws {
        try await ServerBed.run(requestsPerUser: 4) { server in
            let gate = Gate()
            server.provider.holdMetadata(at: gate)
            var clients: [LineClient] = []
            for underWay in [4, 6, 8] {
                let client = try await server.connect()
                for number in 1...4 {
                    var params = RegisterApp.Params(
                        name: "app-\(underWay)-\(number)", clientId: "c", authority: ServerBed.authority)
                    params.checkAuthority = true
                    try await client.send(RegisterApp.requestLine(id: 1, params))
                }
                clients.append(client)
                try await server.provider.waitForQuestions(underWay)
            }
            let refused = try await server.connect().refusal(of: ListApps.self, .init())
            #expect(refused?.data?.kind == .throttled && refused?.data?.retryAfter == 1)
            // Leaving makes no room: the requests must still be processed.
            await clients.removeLast().close()
            #expect(try await server.connect().refusal(of: ListApps.self, .init())?.data?.kind == .throttled)
            #expect(server.provider.asked.count == 8)
            gate.open()
            for client in clients { for _ in 1...4 { _ = try await client.readResult() } }
            try await eventually("there is room again") {
                try await server.connect().refusal(of: ListApps.self, .init()) == nil
            }
        }
    }

    @Test("subscriptions are limited by program, but a connection may change its own")
    func subscriptions() async throws {
        try await ServerBed.run { server in
            var subscribers: [LineClient] = []
            for _ in 0..<EventHub.maximumEach {
                subscribers.append(try await server.connect())
                _ = try await subscribers.last?.call(Subscribe.self, .init([.token]))
            }
            let refused = try await server.connect().refusal(of: Subscribe.self, .init([.token]))
            #expect(refused?.data?.kind == .throttled && refused?.data?.reason == .tooManySubscriptions)
            #expect(try await subscribers[0].call(Subscribe.self, .init([.account])).subscribed == [.account])
            await subscribers.removeFirst().close()
            try await eventually("there is room again") {
                try await server.connect().refusal(of: Subscribe.self, .init([.token])) == nil
            }
        }
    }
}

import BrokerModel
import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Metrics over a real socket")
struct MetricsTests {
    private func count(_ metrics: GetMetrics.Result, _ method: String, _ outcome: String) -> Int64 {
        metrics.requests.first { $0.method == method && $0.ended.outcome == outcome }?.ended.count ?? 0
    }

    @Test("requests are counted at their end, by method and outcome")
    func requests() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            for _ in 1...3 { _ = try await client.call(AcquireTokenSilent.self, .of("mail")) }
            _ = try await client.refusal(of: AcquireTokenSilent.self, .of("nobody"))
            _ = try await client.refusal(#"{"jsonrpc":"2.0","id":1,"method":"no.such"}"#)
            _ = try await client.refusal(#"{"jsonrpc":"2.0","id":1,"method":"apps.list","params":{"x":1}}"#)
            let metrics = try await client.call(GetMetrics.self, .init())
            #expect(count(metrics, "token.acquireSilent", "done") == 3)
            #expect(count(metrics, "token.acquireSilent", "appNotFound") == 1)
            #expect(count(metrics, "token.acquireInteractive", "done") == 1)
            #expect(count(metrics, "unknown", "refused") == 1)
            #expect(count(metrics, "apps.list", "refused") == 1)
            #expect(count(metrics, "broker.metrics", "done") == 0, "one that is under way has not ended")
            #expect(metrics.version == "1.2.3" && metrics.connections >= 1 && metrics.vault.records > 0)
            #expect(try await client.call(GetMetrics.self, .init()).requests.contains { $0.method == "broker.metrics" })
        }
    }

    @Test("cached and refreshed tokens each have a histogram, and refreshes are counted by outcome")
    func tokens() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            for _ in 1...3 { _ = try await client.call(AcquireTokenSilent.self, .of("mail")) }
            var params = AcquireTokenSilent.Params.of("mail")
            params.forceRefresh = true
            _ = try await client.call(AcquireTokenSilent.self, params)
            server.provider.whenRedeeming { _ throws(ProviderError) in
                throw .refused(OAuthRefusal(error: "invalid_grant", status: 400))
            }
            _ = try await client.refusal(of: AcquireTokenSilent.self, params)
            let metrics = try await client.call(GetMetrics.self, .init())
            #expect(metrics.latencies.map(\.source) == [.cached, .refreshed])
            #expect(metrics.latencies.map(\.total) == [3, 1])
            #expect(metrics.latencies.allSatisfy { $0.counts.count == $0.bounds.count + 1 })
            #expect(metrics.refreshes == [.init("done", 1), .init("interactionRequired", 1)])
            #expect(metrics.refreshesInFlight == 0 && metrics.interactions == 0)
        }
    }

    @Test("a sign-in that waits for the person counts as open until it ends")
    func interactions() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            let client = try await server.connect()
            let params = AcquireTokenInteractive.Params(.registered("mail"), scopes: ["read"])
            try await client.send(AcquireTokenInteractive.requestLine(id: 1, params))
            let opening = try await client.readOpening()
            let other = try await server.connect()
            #expect(try await other.call(GetMetrics.self, .init()).interactions == 1)
            _ = try await other.call(CompleteInteraction.self, .init(url: opening.redirect(code: "ann")))
            _ = try await client.readResult()
            #expect(try await other.call(GetMetrics.self, .init()).interactions == 0)
        }
    }

    @Test("metrics are available while the broker is locked")
    func locked() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            _ = try await client.call(LockBroker.self, .init())
            _ = try await client.refusal(of: AcquireTokenSilent.self, .of("mail"))
            let metrics = try await client.call(GetMetrics.self, .init())
            #expect(metrics.locked && count(metrics, "token.acquireSilent", "locked") == 1)
        }
    }

    @Test("metrics contain no name of a person, app, account, caller or provider")
    func names() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            _ = try await client.refusal(of: AcquireTokenSilent.self, .of("secret-project"))
            _ = try await client.refusal(#"{"jsonrpc":"2.0","id":1,"method":"ann.mail"}"#)
            try await client.send(GetMetrics.requestLine(id: 1, .init()))
            let line = try #require(try await client.readLine())
            for name in ["ann", "mail", "secret-project", "login.example", "/test", "access-token"] {
                #expect(!line.contains(name), "\(name)")
            }
        }
    }
}

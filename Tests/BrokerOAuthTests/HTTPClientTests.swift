import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import Testing

/// Runs a body with a server and a separate client, and ends both.
func withServer<Result>(
    _ script: @escaping LoopbackServer.Script, client configuration: HTTPClientConfiguration = .patient(),
    _ body: (LoopbackServer, HTTPClient) async throws -> Result
) async throws -> Result {
    let server = try await LoopbackServer.start(script: script)
    let client = try HTTPClient(configuration: configuration)
    do {
        let result = try await body(server, client)
        await server.stop()
        await client.shutdown()
        return result
    } catch {
        await server.stop()
        await client.shutdown()
        throw error
    }
}

/// The failure of a request that must fail.
func failureOf(_ request: HTTPRequest, through client: HTTPClient) async throws -> HTTPFailure {
    do throws(HTTPFailure) {
        let response = try await client.send(request)
        throw HTTPFailure(.internal, mayHaveBeenSent: true, "it was answered with \(response.status)")
    } catch {
        return error
    }
}

@Suite("HTTP client")
struct HTTPClientTests {
    @Test("a GET sends its fields and returns status, fields and body")
    func get() async throws {
        try await withServer { request in
            let echo =
                "\(request.method) \(request.path) \(request.headers["user-agent"] ?? "") \(request.headers["x-a"] ?? "")"
            return ProviderAnswer(status: 203, headers: [("X-B", "1"), ("x-b", " 2 ")], body: Array(echo.utf8))
        } _: { server, client in
            let response = try await client.get(server.url + "/path?q=1", headers: [HTTPHeader("X-A", "a")])
            #expect(response.status == 203)
            #expect(String(decoding: response.body, as: UTF8.self) == "GET /path token-broker/1 a")
            #expect(response.headers["x-b"] == ["1", "2"])
        }
    }

    @Test("a POST sends a secret body and a secret field unchanged, without Expect: 100-continue")
    func post() async throws {
        try await withServer { request in
            let expectation = request.headers["expect"] ?? "none"
            let authorization = request.headers["authorization"] ?? ""
            return ProviderAnswer(status: 200, body: Array("\(expectation) \(authorization) ".utf8) + request.body)
        } _: { server, client in
            let body = String(repeating: "0123456789abcdef", count: 60_000)
            let response = try await client.post(
                server.url, body: Secret(body), contentType: "text/plain",
                headers: [HTTPHeader("Authorization", secret: Secret("Basic xyz"))])
            #expect(String(decoding: response.body, as: UTF8.self) == "none Basic xyz " + body)
        }
    }

    @Test("one connection serves many requests")
    func reuse() async throws {
        try await withServer { _ in
            .json(["ok": true])
        } _: { server, client in
            for _ in 0..<20 {
                let response = try await client.get(server.url)
                #expect(response.status == 200)
            }
            #expect(server.connections == 1)
        }
    }

    @Test("a connection with a server error is not reused, one with a refusal is")
    func trouble() async throws {
        for (status, connections) in [(503, 4), (500, 4), (400, 1), (429, 1)] {
            try await withServer { _ in
                .empty(status)
            } _: { server, client in
                for _ in 0..<4 {
                    let response = try await client.get(server.url)
                    #expect(response.status == status)
                }
                #expect(server.connections == connections, "\(status)")
            }
        }
    }

    @Test("issuers of one host do not share connections, and each keeps its own")
    func issuers() async throws {
        try await withServer { _ in
            .json(["ok": true])
        } _: { server, client in
            for _ in 0..<5 {
                for issuer in ["/a", "/b", "/c"] { _ = try await client.get(server.url, of: server.url + issuer) }
            }
            #expect(server.connections == 3)
        }
    }

    @Test("beyond the limit of idle issuers, the longest idle lose their connections")
    func idleIssuers() async throws {
        var configuration = HTTPClientConfiguration.patient()
        configuration.maximumIdleIssuers = 2
        try await withServer({ _ in .json(["ok": true]) }, client: configuration) { server, client in
            for issuer in ["a", "b", "c", "c", "b", "a", "b"] { _ = try await client.get(server.url, of: issuer) }
            #expect(server.connections == 4)
        }
    }

    @Test("if only the public internet is allowed, the actual address of the connection is checked")
    func privateAddresses() async throws {
        var configuration = HTTPClientConfiguration.patient()
        configuration.reachesPrivateAddresses = { $0 == "registered" }
        try await withServer({ _ in .json(["ok": true]) }, client: configuration) { server, client in
            let failure = try await failureOf(HTTPRequest(.get, server.url, of: "named"), through: client)
            #expect(failure.reason == .notAllowed && !failure.mayHaveBeenSent, "\(failure)")
            #expect(server.connections == 0)
            #expect(try await client.get(server.url, of: "registered").status == 200)
        }
    }

    @Test("connections per issuer are limited, and all requests are answered")
    func connectionLimit() async throws {
        var configuration = HTTPClientConfiguration.patient()
        configuration.connectionsPerIssuer = 3
        try await withServer({ _ in .json(["ok": true]) }, client: configuration) { server, client in
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<60 { group.addTask { try await client.get(server.url).status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count == 60 && statuses.allSatisfy { $0 == 200 })
            #expect((1...3).contains(server.connections))
        }
    }

    @Test(
        "an endpoint that hangs leaves connections for others of its host, and requests in its queue time out")
    func endpointLimit() async throws {
        var configuration = HTTPClientConfiguration.patient()
        (configuration.connectionsPerIssuer, configuration.requestsPerEndpoint) = (6, 3)
        let asked = Recorder<String>()
        try await withServer(
            { request in
                asked.add(request.path)
                return request.path == "/hang" && request.method == "GET" ? .hang : .json(["ok": true])
            }, client: configuration
        ) { server, client in
            func hang() -> Task<Int, any Error> { Task { try await client.get(server.url + "/hang").status } }
            let hanging = (0..<20).map { _ in hang() }
            try await eventually("it hangs") { asked.all.count { $0 == "/hang" } == 3 }
            for _ in 0..<5 { #expect(try await client.get(server.url + "/other").status == 200) }
            #expect(asked.all.count { $0 == "/hang" } == 3)
            // Started requests and waiting ones.
            for task in hanging { task.cancel() }
            for task in hanging { await #expect(throws: HTTPFailure.self) { try await task.value } }
            // Their places are free: this request starts and is answered.
            #expect(
                try await client.post(server.url + "/hang", body: Secret("x"), contentType: "text/plain").status == 200)
        }
    }

    @Test("the wait in the queue counts toward a request's time limit")
    func endpointTimeout() async throws {
        var configuration = HTTPClientConfiguration.patient()
        (configuration.requestsPerEndpoint, configuration.totalTimeout) = (1, .milliseconds(300))
        let asked = Recorder<String>()
        try await withServer(
            { request in
                asked.add(request.path)
                return .hang
            }, client: configuration
        ) { server, client in
            let hanging = (0..<8).map { _ in Task { try await client.get(server.url) } }
            for task in hanging {
                let failure = await #expect(throws: HTTPFailure.self) { try await task.value }
                #expect(failure?.reason == .timedOut, "\(String(describing: failure))")
            }
            #expect(asked.all.count < 8)
        }
    }

    @Test("a redirect is returned and not followed")
    func redirect() async throws {
        let visited = Recorder<String>()
        try await withServer { request in
            visited.add(request.path)
            return .redirect(to: "/elsewhere")
        } _: { server, client in
            let response = try await client.get(server.url + "/here")
            #expect(response.status == 302)
            #expect(response.header("Location") == "/elsewhere")
            #expect(visited.all == ["/here"])
        }
    }

    @Test("an interim response and its fields are ignored")
    func interim() async throws {
        try await withServer { _ in
            .raw("HTTP/1.1 103 Early\r\nX-Early: 1\r\n\r\nHTTP/1.1 200 OK\r\nX-Late: 2\r\nContent-Length: 2\r\n\r\nok")
        } _: { server, client in
            let response = try await client.get(server.url)
            #expect(response.status == 200)
            #expect(response.header("x-early") == nil)
            #expect(response.header("x-late") == "2")
        }
    }

    @Test("the thread serves others while one server hangs")
    func hangingNeighbour() async throws {
        try await withServer { request in
            request.path == "/hang" ? .hang : .json(["ok": true])
        } _: { server, client in
            let hanging = Task { try await client.get(server.url + "/hang") }
            for _ in 0..<5 {
                let response = try await client.get(server.url)
                #expect(response.status == 200)
            }
            hanging.cancel()
            await #expect(throws: HTTPFailure.self) { try await hanging.value }
        }
    }

    @Test(
        "a URL that is neither https nor http to loopback is not requested",
        arguments: [
            "http://example.com/", "ftp://127.0.0.1/", "file:///etc/passwd", "http://127.0.0.1@example.com/",
            "http://127.0.0.1.example.com/", "https://", "127.0.0.1", "http://127.0.0.1:0/", "http://localhost:1/#f",
            "http://127.0.0.1\\@example.com/", "http://[::1/", "http://127.0.0.1:+80/", "http://exa mple/",
            "http://idp.localhost:1/",
        ])
    func refusedURLs(url: String) async throws {
        let client = try HTTPClient(configuration: .init(version: "1"))
        let failure = try await failureOf(HTTPRequest(.get, url), through: client)
        #expect(failure.reason == .notAllowed)
        #expect(!failure.mayHaveBeenSent)
        await client.shutdown()
    }

    @Test("a line break in a field is refused, in a secret one too", arguments: ["a\r\nX: 1", "a\nb", "a\u{0}b"])
    func injection(value: String) async throws {
        try await withServer { _ in
            .json(["ok": true])
        } _: { server, client in
            for header in [HTTPHeader("X-A", value), HTTPHeader("X-A", secret: Secret(value)), HTTPHeader(value, "a")] {
                let failure = try await failureOf(HTTPRequest(.get, server.url, headers: [header]), through: client)
                #expect(failure.reason == .notAllowed)
            }
            #expect(server.connections == 0)
        }
    }

    @Test("after shutdown nothing is sent any more, and a second shutdown is harmless")
    func closed() async throws {
        try await withServer { _ in
            .json(["ok": true])
        } _: { server, client in
            await client.shutdown()
            let failure = try await failureOf(HTTPRequest(.get, server.url), through: client)
            #expect(failure.reason == .closed)
            #expect(!failure.mayHaveBeenSent)
            await client.shutdown()
            #expect(server.connections == 0)
        }
    }

    @Test("shutdown ends a GET that hangs and lets a token request finish")
    func shutdownWithRequests() async throws {
        let gate = Gate()
        try await withServer { request in
            if request.method == "GET" { return .hang }
            await gate.wait()
            return .json(["ok": true])
        } _: { server, client in
            let read = Task { try await failureOf(HTTPRequest(.get, server.url), through: client) }
            let post = Task { try await client.post(server.url, body: Secret("x"), contentType: "text/plain").status }
            try await eventually("both requests are out") { server.connections == 2 }
            let shutdown = Task { await client.shutdown() }
            #expect(try await read.value.reason == .cancelled)
            gate.open()
            #expect(try await post.value == 200)
            await shutdown.value
        }
    }

    @Test("abandon ends a token request, too")
    func abandoning() async throws {
        try await withServer { _ in
            .hang
        } _: { server, client in
            let post = Task { try await failureOf(HTTPRequest(.post, server.url), through: client) }
            try await eventually("the request is out") { server.connections == 1 }
            client.abandon()
            #expect(try await post.value.reason == .cancelled)
        }
    }
}

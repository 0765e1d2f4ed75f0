import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import Testing

@Suite("HTTP faults")
struct HTTPFaultTests {
    private static var impatient: HTTPClientConfiguration {
        var configuration = HTTPClientConfiguration.patient()
        configuration.totalTimeout = .seconds(2)
        return configuration
    }

    private func post(_ url: String) -> HTTPRequest {
        HTTPRequest(.post, url, body: Secret("grant_type=refresh_token"))
    }

    @Test("a request to a server that hangs times out with an unknown outcome")
    func hang() async throws {
        try await withServer({ _ in .hang }, client: Self.impatient) { server, client in
            let failure = try await failureOf(post(server.url), through: client)
            #expect(failure.reason == .timedOut)
            #expect(failure.mayHaveBeenSent)
        }
    }

    @Test("a server that sends a byte now and then does not extend the time limit")
    func drip() async throws {
        try await withServer(
            { _ in .json(["ok": true]).dripping(every: .milliseconds(500)) }, client: Self.impatient
        ) { server, client in
            let timedOut = try await failureOf(post(server.url), through: client)
            #expect(timedOut.reason == .timedOut)
        }
    }

    @Test("without a listener nothing can have been sent")
    func refused() async throws {
        let client = try HTTPClient(configuration: .init(version: "1"))
        let failure = try await failureOf(post("http://127.0.0.1:\(try FreePort.next())"), through: client)
        #expect(failure.reason == .notConnected)
        #expect(!failure.mayHaveBeenSent)
        await client.shutdown()
    }

    @Test("with an unknown host name nothing can have been sent")
    func unknownName() async throws {
        let client = try HTTPClient(configuration: .init(version: "1"))
        let failure = try await failureOf(post("https://provider.invalid/token"), through: client)
        #expect(failure.reason == .nameNotResolved)
        #expect(!failure.mayHaveBeenSent)
        await client.shutdown()
    }

    @Test(
        "a connection that ends too soon leaves the outcome unknown",
        arguments: [
            ProviderAnswer.close, .reset, ProviderAnswer.json(["access_token": "abcdef"]).truncated(after: 5),
        ])
    func lost(answer: ProviderAnswer) async throws {
        try await withServer { _ in
            answer
        } _: { server, client in
            let failure = try await failureOf(post(server.url), through: client)
            #expect(failure.reason == .connectionLost)
            #expect(failure.mayHaveBeenSent)
        }
    }

    @Test(
        "a GET is sent again after a kept connection turns out to be dead, a POST is not",
        arguments: ["", "grant_type=refresh_token"])
    func noSilentRepetition(body: String) async throws {
        let visits = Recorder<String>()
        try await withServer { request in
            visits.add(request.method + request.path)
            let seen = visits.all.count { $0 == request.method + request.path }
            return request.path == "/dies" && seen == 1 ? .close : .json(["ok": true])
        } _: { server, client in
            #expect(try await client.get(server.url).status == 200)
            let failure = try await failureOf(
                HTTPRequest(.post, server.url + "/dies", body: Secret(body)), through: client)
            #expect(failure.reason == .connectionLost)
            #expect(failure.mayHaveBeenSent)
            #expect(visits.all.count { $0 == "POST/dies" } == 1)

            #expect(try await client.get(server.url).status == 200)
            #expect(try await client.get(server.url + "/dies").status == 200)
            #expect(visits.all.count { $0 == "GET/dies" } == 2)
        }
    }

    @Test("a connection that the server closed in between is noticed, and a POST opens a new one")
    func closedInBetween() async throws {
        try await withServer { _ in
            .json(["ok": true])
        } _: { server, client in
            _ = try await client.get(server.url)
            await server.dropConnections()
            let response = try await client.send(post(server.url))
            #expect(response.status == 200)
            #expect(server.connections == 2)
        }
    }

    @Test("an announced oversized response is refused, and an endless one is cut off")
    func tooLarge() async throws {
        let giant = ProviderAnswer(status: 200, body: Array(repeating: 0x78, count: (1 << 20) + 1))
        let exact = ProviderAnswer(status: 200, body: Array(repeating: 0x78, count: 1 << 20))
        try await withServer { request in
            switch request.path {
            case "/giant": giant
            case "/exact": exact
            default: .endless
            }
        } _: { server, client in
            #expect(try await client.get(server.url + "/exact").body.count == 1 << 20)
            let announced = try await failureOf(post(server.url + "/giant"), through: client)
            #expect(announced.reason == .tooLarge)
            let tooLarge = try await failureOf(post(server.url + "/endless"), through: client)
            #expect(tooLarge.reason == .tooLarge)
        }
    }

    @Test("header fields are bounded too")
    func hugeHeader() async throws {
        let field = ("X-Padding", String(repeating: "a", count: 8000))
        try await withServer { _ in
            .empty(200, headers: Array(repeating: field, count: 9))
        } _: { server, client in
            let tooLarge = try await failureOf(HTTPRequest(.get, server.url), through: client)
            #expect(tooLarge.reason == .tooLarge)
        }
    }

    @Test(
        "a response that is not HTTP is reported as such",
        arguments: ["SSH-2.0-OpenSSH_9.2\r\n", "\u{16}\u{3}\u{1}garbage"])
    func notHTTP(bytes: String) async throws {
        try await withServer { _ in
            .raw(bytes)
        } _: { server, client in
            let notHTTP = try await failureOf(post(server.url), through: client)
            #expect(notHTTP.reason == .notHTTP)
        }
    }

    @Test("a cancelled GET ends at once, even if it was cancelled before its start")
    func cancelledGET() async throws {
        try await withServer { _ in
            .hang
        } _: { server, client in
            let task = Task { try await failureOf(HTTPRequest(.get, server.url), through: client) }
            try await eventually("the request is out") { server.connections == 1 }
            task.cancel()
            #expect(try await task.value.reason == .cancelled)

            let gate = Gate()
            let late = Task {
                await gate.wait()
                return try await failureOf(HTTPRequest(.get, server.url), through: client)
            }
            late.cancel()
            gate.open()
            let failure = try await late.value
            #expect(failure.reason == .cancelled)
            #expect(!failure.mayHaveBeenSent)
        }
    }

    @Test("a POST whose caller is gone still runs to its end")
    func cancelledPOST() async throws {
        let gate = Gate()
        try await withServer { _ in
            await gate.wait()
            return .json(["ok": true])
        } _: { server, client in
            let request = post(server.url)
            let task = Task { try await client.send(request).status }
            try await eventually("the request is out") { server.connections == 1 }
            task.cancel()
            gate.open()
            #expect(try await task.value == 200)
        }
    }

    @Test("error messages name the server and nothing of the request")
    func messages() async throws {
        try await withServer { _ in
            .close
        } _: { server, client in
            let failure = try await failureOf(post(server.url + "/token?code=SECRET"), through: client)
            #expect(failure.message.contains("127.0.0.1:\(server.port)"))
            #expect(!failure.message.contains("SECRET"))
        }
    }
}

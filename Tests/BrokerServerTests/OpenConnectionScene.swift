import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Testing

/// An answer without the parts that always differ: its id, its correlation id, and whether it was the first of its kind.
struct PlainAnswer: Equatable, CustomStringConvertible {
    private let result: JSONObject?
    private let error: JSONObject?

    init(_ answer: JSONNode) {
        var result = answer["result"]?.value.objectValue
        for name in ["correlationId", "fromCache"] { result?[name] = nil }
        var error = answer["error"]?.value.objectValue
        if var data = error?["data"]?.objectValue {
            data["correlationId"] = nil
            error?["data"] = .object(data)
        }
        (self.result, self.error) = (result, error)
    }

    var token: String? { result?["accessToken"]?.stringValue }
    var persisted: Bool? { result?["persisted"]?.boolValue }
    var kind: String? { error?["data"]?.objectValue?["kind"]?.stringValue }
    var reason: String? { error?["data"]?.objectValue?["reason"]?.stringValue }
    var description: String { "\(result ?? error ?? [:])" }
}

/// One connection that repeats the same request.
struct OpenConnectionScene {
    let server: ServerBed
    let client: LineClient
    private let params: AcquireTokenSilent.Params

    init(_ server: ServerBed, _ params: AcquireTokenSilent.Params = .of("mail")) async throws {
        (self.server, self.params) = (server, params)
        client = try await server.connect()
    }

    /// Sends the request on this connection, or on another one.
    func ask(_ id: Int64 = 1, on other: LineClient? = nil) async throws -> PlainAnswer {
        let client = other ?? self.client
        try await client.send(AcquireTokenSilent.requestLine(id: id, params))
        return PlainAnswer(try await client.readJSON())
    }

    /// Sends it once more: the answer equals that of another connection.
    @discardableResult
    func askAgain() async throws -> PlainAnswer {
        let answer = try await ask(3)
        #expect(try await ask(on: server.connect()) == answer)
        return answer
    }
}

extension ServerBed {
    /// Runs with the app `mail`, to which Ann has signed in, and a connection that got her token before.
    static func runConnected(
        _ params: AcquireTokenSilent.Params = .of("mail"),
        _ body: (ServerBed, OpenConnectionScene) async throws -> Void
    ) async throws {
        try await runSignedIn { server in
            let scene = try await OpenConnectionScene(server, params)
            try #require(try await scene.ask().token == "at-1")
            try await body(server, scene)
        }
    }
}

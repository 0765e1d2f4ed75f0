import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Testing

/// For every method: requests refused here are refused by the pipeline, before any handler.
@Suite("Rights over a real socket")
struct RightsTests {
    private static func methods(_ permissions: Permission...) -> [String] {
        MethodRegistry.methods.filter { permissions.contains($0.permission) }.map { $0.name }
    }

    private static let namingApps: [String] = MethodRegistry.methods.filter { method in
        func namesApp<M: BrokerMethod>(_: M.Type) -> Bool { M.Params.self is any AppSelecting.Type }
        return namesApp(method)
    }.map { $0.name }

    private static let sandbox = PlainInspector(sandboxID: "org.example.Game")

    private func line(_ method: String, _ params: JSONObject) -> String {
        var writer = JSONWriter()
        writer.value(.object(["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": .object(params)]))
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func requiredParams(of method: String, app: String?) -> JSONObject {
        var params = BrokerTestSupport.requiredParams[method] ?? [:]
        params["app"] = app.map { .string($0) }
        return params
    }

    /// The kind of error that a request without an app is answered with.
    private func refusedKind(_ method: String, _ server: ServerBed) async throws -> ErrorKind? {
        let client = try await server.connect()
        try await client.sendLine(line(method, requiredParams(of: method, app: nil)))
        return try await client.readRefusal()?.data?.kind
    }

    /// Registers an app that lists another program than the tests.
    private func registerForOthers(_ name: String, _ server: ServerBed) async throws {
        var params = RegisterApp.Params(name: name, clientId: "c", authority: ServerBed.authority)
        params.description.executables = ["/usr/bin/other"]
        _ = try await server.connect().call(RegisterApp.self, params)
    }

    @Test("a sandbox may not administer, whatever the params", arguments: methods(.administration))
    func administration(method: String) async throws {
        try await ServerBed.run(inspector: Self.sandbox) { server in
            for params in [requiredParams(of: method, app: nil), ["nonsense": true]] {
                let error = try await server.connect().refusal(line(method, params))
                #expect(error.data?.kind == .accessDenied && error.data?.caller == "flatpak:org.example.Game")
            }
        }
    }

    @Test("a caller that names an app must be listed by it", arguments: namingApps)
    func unlisted(method: String) async throws {
        try await ServerBed.run { server in
            try await registerForOthers("guarded", server)
            let error = try await server.connect().refusal(line(method, requiredParams(of: method, app: "guarded")))
            #expect(error.data?.kind == .accessDenied && error.data?.reason == .callerNotListed)
            #expect(error.data?.app == "guarded")
        }
    }

    @Test("an unregistered app is refused for every caller", arguments: namingApps)
    func unknownApp(method: String) async throws {
        try await ServerBed.run { server in
            let error = try await server.connect().refusal(line(method, requiredParams(of: method, app: "nobody")))
            #expect(error.data?.kind == .appNotFound && error.data?.app == "nobody")
        }
    }

    @Test("a method that needs an app is refused without one, with the field", arguments: methods(.app))
    func noApp(method: String) async throws {
        try await ServerBed.run { server in
            let error = try await server.connect().refusal(line(method, requiredParams(of: method, app: nil)))
            #expect(error.code == -32602 && error.data?.field == "app")
        }
    }

    @Test(
        "a request without an app is about all of the person's, and refused for a sandbox",
        arguments: methods(.appOrPersonal)
    )
    func personal(method: String) async throws {
        try await ServerBed.run(inspector: Self.sandbox) { server in
            let error = try await server.connect().refusal(line(method, requiredParams(of: method, app: nil)))
            #expect(error.data?.kind == .accessDenied && error.data?.caller == "flatpak:org.example.Game")
        }
        try await ServerBed.run { server in
            let kind = try await refusedKind(method, server)
            #expect(kind != .accessDenied)
        }
    }

    @Test("methods for any process of the person also work in a sandbox", arguments: methods(.person))
    func person(method: String) async throws {
        try await ServerBed.run(inspector: Self.sandbox) { server in
            let kind = try await refusedKind(method, server)
            #expect(kind != .accessDenied)
        }
    }
}

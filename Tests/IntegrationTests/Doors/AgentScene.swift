import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

/// A broker, and programs that do not know it: they use oidc-agent's protocol.
struct AgentScene {
    let scene: DevelopmentScene
    let bed: TestBed

    static func make(
        in bed: TestBed, policy: (inout TokenPolicy) -> Void = { _ in },
        options: (inout BrokerProcess.Options) -> Void = { _ in }
    ) async throws -> AgentScene {
        let scene = try await DevelopmentScene.make(in: bed, policy: policy, options: options)
        try await scene.register("notes", ["scopes": [.string(DevelopmentScene.scope)]])
        return AgentScene(scene: scene, bed: bed)
    }

    /// The door next to the broker's socket.
    var socket: String {
        scene.broker.socket.replacing("broker.sock", with: "oidc-agent.sock")
    }

    var environment: [String: String] {
        ["OIDC_SOCK": socket, "HOME": bed.directory.path, "TMPDIR": bed.directory.path]
    }

    /// One of Debian's programs.
    func run(_ program: String, _ arguments: String...) async throws -> CommandResult {
        try await bed.run(Launch("/usr/bin/" + program, arguments, environment: environment))
    }

    /// Python's library.
    func python(_ script: String) async throws -> CommandResult {
        let python = try await PythonEnvironment.shared.python(in: bed)
        return try await bed.run(Launch(python, ["-c", script], environment: environment))
    }

    /// The plain exchange: one request, and all data until the broker closes.
    func plain(_ request: String) async throws -> JSONObject {
        let client = try await LineClient.connect(to: socket)
        defer { Task { await client.close() } }
        try await client.send(request)
        return try Self.object(try await client.readToEnd())
    }

    static func object(_ text: String) throws -> JSONObject { try #require(JSONObject(json: text.utf8), "\(text)") }
}

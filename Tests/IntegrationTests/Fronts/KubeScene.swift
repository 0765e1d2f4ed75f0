import BrokerTestSupport
import BrokerValues
import Foundation

/// A cluster that accepts certain tokens, and kubectl with a kubeconfig that gets them from the broker.
struct KubeScene {
    let scene: DevelopmentScene
    let server: ManagedProcess
    private let bed: TestBed
    private let tokens: String
    private let configuration: String
    private let programs: String

    /// - Parameters:
    ///   - version: of the plug-in's protocol.
    ///   - arguments: further ones of the plug-in.
    static func make(
        in bed: TestBed, version: String = "v1beta1", _ arguments: [String] = []
    ) async throws -> KubeScene {
        let scene = try await DevelopmentScene.make(in: bed)
        let certificate = try await TestCertificate.make(in: bed)
        let tokens = bed.path("tokens")
        try "".write(toFile: tokens, atomically: true, encoding: .utf8)
        let server = try bed.start(
            Launch(PackageTree.fixture("kube-server.py"), [certificate.certificate, certificate.key, tokens]),
            as: "kube-server")
        try await server.waitForText("\n")
        let port = server.outputText.split(whereSeparator: \.isWhitespace).dropFirst().first ?? ""
        let programs = try bed.makeDirectory("bin")
        try FileManager.default.createSymbolicLink(
            atPath: "\(programs)/brokerctl", withDestinationPath: try PackageTree.program("brokerctl"))
        let cluster: JSONValue = [
            "server": .string("https://127.0.0.1:\(port)"), "certificate-authority": .string(certificate.authority),
        ]
        let kubeconfig: JSONValue = [
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [["name": "test", "cluster": cluster]],
            "users": [], "contexts": [["name": "test", "context": ["cluster": "test", "user": ""]]],
        ]
        let configuration = bed.path("kubeconfig")
        let encoder = JSONEncoder()
        // Some versions of kubectl read YAML that does not know JSON's escaped slash.
        encoder.outputFormatting = .withoutEscapingSlashes
        try encoder.encode(kubeconfig).write(to: URL(filePath: configuration))
        let kube = KubeScene(
            scene: scene, server: server, bed: bed, tokens: tokens, configuration: configuration, programs: programs)
        for line in try Recipe.lines(of: "kubectl", beginningWith: "kubectl") {
            let further = line.contains("--exec-arg") ? arguments.map { " --exec-arg=\($0)" }.joined() : ""
            let result = try await kube.run("sh", ["-c", line.replacing("v1beta1", with: version) + further])
            guard result.succeeded else { throw ProcessFailure("\(line): \(result)") }
        }
        return kube
    }

    /// From now on the cluster accepts this token.
    func accept(_ token: String) throws { try "\(token)\n".write(toFile: tokens, atomically: true, encoding: .utf8) }

    var requests: [String] { server.outputText.split(separator: "\n").dropFirst().map(String.init) }

    func kubectl(_ arguments: String...) async throws -> CommandResult {
        try await run("kubectl", ["--cache-dir", bed.path("kube-cache")] + arguments)
    }

    private func run(_ program: String, _ arguments: [String]) async throws -> CommandResult {
        try await bed.run(
            Launch(
                program, arguments,
                environment: [
                    "HOME": try bed.makeDirectory("home"), "PATH": "\(programs):/usr/bin:/bin",
                    "BROKER_SOCKET": scene.broker.socket, "KUBECONFIG": configuration,
                ]))
    }
}

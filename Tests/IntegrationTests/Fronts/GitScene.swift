import BrokerTestSupport
import DevIdentityProvider
import Foundation

/// A git server that accepts the development provider's tokens, and a configured git.
struct GitScene {
    let scene: DevelopmentScene
    let server: ManagedProcess
    let port: Int
    private let bed: TestBed
    private let home: String
    private let programs: String

    static let repository = "work.git"

    static func make(in bed: TestBed, scheme: String = "Basic") async throws -> GitScene {
        let scene = try await DevelopmentScene.make(in: bed)
        let root = try bed.makeDirectory("repositories")
        let repository = "\(root)/\(repository)"
        try await bed.require("git", ["init", "--quiet", "--bare", "--initial-branch=main", repository])
        try await bed.require("git", ["-C", repository, "config", "http.receivepack", "true"])
        let server = try bed.start(
            Launch(
                PackageTree.fixture("git-server.py"), [root, "\(scene.provider.issuer)/userinfo", scheme],
                environment: ["HOME": bed.directory.path]), as: "git-server")
        try await server.waitForText("\n")
        let port = server.outputText.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
        // The link by which git finds the helper.
        let programs = try bed.makeDirectory("bin")
        try FileManager.default.createSymbolicLink(
            atPath: "\(programs)/git-credential-broker", withDestinationPath: try PackageTree.program("brokerctl"))
        return GitScene(
            scene: scene, server: server, port: port, bed: bed, home: try bed.makeDirectory("home"),
            programs: programs)
    }

    var host: String { "127.0.0.1:\(port)" }
    var url: String { "http://\(host)/\(Self.repository)" }

    /// The server's responses, a line a request.
    var requests: [String] { server.outputText.split(separator: "\n").dropFirst().map(String.init) }

    /// No settings of this machine or of the user who runs the tests.
    private var environment: [String: String] {
        [
            "HOME": home, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "/bin/false",
            "PATH": "\(programs):/usr/bin:/bin", "BROKER_SOCKET": scene.broker.socket,
            "GIT_AUTHOR_NAME": "Alice", "GIT_AUTHOR_EMAIL": "alice@example.org",
            "GIT_COMMITTER_NAME": "Alice", "GIT_COMMITTER_EMAIL": "alice@example.org",
        ]
    }

    func git(_ arguments: [String], in folder: String? = nil) async throws -> CommandResult {
        try await bed.run(Launch("git", (folder.map { ["-C", $0] } ?? []) + arguments, environment: environment))
    }

    /// Follows docs/recipes.md for this server.
    ///
    /// - Parameter options: further options of the helper.
    func configure(_ options: String = "") async throws {
        for line in try Recipe.lines(of: "git", beginningWith: "git") {
            let command = line.replacing("https://git.example.org", with: "http://\(host)")
                .replacing("--app notes", with: "--app notes\(options)")
            let result = try await bed.run(Launch("sh", ["-c", command], environment: environment))
            guard result.succeeded else { throw ProcessFailure("\(command): \(result)") }
        }
    }

    func clone(_ url: String? = nil) async throws -> (result: CommandResult, folder: String) {
        let folder = bed.path(bed.unique("clone"))
        return (try await git(["clone", "--quiet", url ?? self.url, folder]), folder)
    }
}

import BrokerConfig
import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Sandboxes in the configuration")
struct SandboxTableTests {
    private func load(_ text: String) async throws -> BrokerConfiguration {
        try await withTestBed { bed in
            let file = bed.path("config.toml")
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            return try ConfigurationLoader(files: .only(file)).load().configuration
        }
    }

    @Test("a table becomes a sandbox, with the table's name as its default id")
    func tables() async throws {
        let configuration = try await load(
            """
            [sandbox.build]
            engine = "podman"

            [sandbox.sync]
            engine = "systemd"
            id = "sync.service"
            apps = ["mail"]
            rights = ["token", "accounts"]
            """)
        #expect(
            configuration.sandboxes == [
                "build": Sandbox(engine: "podman", id: "build", rights: [.token]),
                "sync": Sandbox(
                    engine: "systemd", id: "sync.service", apps: ["mail"], rights: [.token, .accounts]),
            ])
    }

    @Test(
        "a mistake is reported with its line",
        arguments: [
            ("[sandbox.build]\nid = \"x\"\n", ":2: engine: is needed"),
            ("[sandbox.build]\nengine = \"container\"\n", ":2: engine: container is reserved"),
            ("[sandbox.\"../x\"]\nengine = \"podman\"\n", ":2: a sandbox's table is named by"),
            ("[sandbox.build]\nengine = \"podman\"\nrights = [\"admin\"]\n", ":3: rights: \"admin\" is not one of"),
            ("[sandbox.build]\nengine = \"podman\"\nrights = []\n", ":3: rights: names none"),
            ("[sandbox.build]\nengine = \"podman\"\napps = []\n", ":3: apps: names none"),
            ("[sandbox.build]\nengin = \"podman\"\n", ":2: there is no key engin of a sandbox; did you mean engine?"),
            ("[sandbox.build]\nengine = 3\n", ":2: engine: expects a string"),
        ])
    func mistakes(text: String, sentence: String) async throws {
        let error = await #expect(throws: ConfigurationError.self) { try await load(text) }
        #expect("\(try #require(error))".contains(sentence), "\(String(describing: error))")
    }

    @Test("docs/configuration.md contains the table of these keys")
    func documented() throws {
        let page = try PackageTree.text("docs/configuration.md")
        #expect(page.contains(SandboxTable.documentation), "Put this table there:\n\(SandboxTable.documentation)")
    }
}

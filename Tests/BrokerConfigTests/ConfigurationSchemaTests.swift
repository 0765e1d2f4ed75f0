import BrokerConfig
import BrokerTestSupport
import BrokerValues
import BrokerVault
import Foundation
import Testing

@Suite("JSON schemas for editors") struct ConfigurationSchemaTests {
    private static let documents = [
        ("docs/config.schema.json", ConfigurationSchema.settings(keySources: KeySources.names)),
        ("docs/apps.schema.json", ConfigurationSchema.apps),
    ]

    @Test(
        "are what the settings say (UPDATE_DOCS=1 swift test --filter Schema writes them)", arguments: documents)
    func areCurrent(path: String, schema: JSONValue) throws {
        let file = PackageTree.root.appending(path: path)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let text = try encoder.encode(schema) + Data("\n".utf8)
        if ProcessInfo.processInfo.environment["UPDATE_DOCS"] != nil { try text.write(to: file) }
        #expect(try Data(contentsOf: file) == text)
    }

    /// Checks with taplo, which editors use.
    private func accepts(_ text: String, _ schema: String) async throws -> Bool {
        try await withTestBed { bed in
            let path = try file("checked.toml", text, in: bed)
            let result = try await bed.run(
                Launch(
                    try await PythonEnvironment.shared.program("taplo", in: bed),
                    ["check", "--schema", PackageTree.root.appending(path: schema).absoluteString, path]))
            try #require(result.succeeded || result.errors.contains("checked.toml:"), "\(result)")
            return result.succeeded
        }
    }

    @Test("an editor accepts the examples of docs/configuration.md")
    func examples() async throws {
        let page = try PackageTree.text("docs/configuration.md")
        let examples = page.components(separatedBy: "```toml\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        try #require(examples.count >= 3)
        for example in examples {
            let schema = example.contains("apps.d") ? "docs/apps.schema.json" : "docs/config.schema.json"
            #expect(try await accepts(example, schema), "\(example)")
        }
    }

    @Test(
        "an editor accepts every form of a value that the daemon accepts",
        arguments: [
            "browser = \"firefox %u\"", "browser = [\"firefox\"]", "browser.command = [\"firefox\"]",
            "vault.key_source = \"credential\"", "vault.key_source = [\"credential\", \"key-file\"]",
            "vault.state_dir = \"~/vault\"", "doors.oidc_agent_socket = \"off\"",
            "[doors.oidc_agent_accounts]\n\"wlcg prod\" = \"grid\"",
        ])
    func forms(text: String) async throws {
        #expect(try await accepts(text, "docs/config.schema.json"))
        try await withTestBed { bed in
            let path = try file("config.toml", text, in: bed)
            let loader = ConfigurationLoader(
                environment: ["HOME": "/home/ada"], files: .only(path), keySources: KeySources.names)
            #expect(try !loader.load().origins.isEmpty)
        }
    }

    @Test(
        "an editor marks names, types and ranges that the daemon refuses",
        arguments: [
            "log.levle = \"debug\"", "log.level = \"loud\"", "cache.expiry_buffer = -1", "oauth.ca_file = 3",
            "doors.oidc_agent_socket = \"offline\"", "[doors.oidc_agent_accounts]\nwlcg = 3",
            "vault.state_dir = \"vault\"", "vault.key_source = \"hope\"", "browser.command = []",
            "[provider.\"https://id.example\"]\ntoken_endpont = \"https://id.example/token\"",
            "[provider.\"https://id.example\"]\nkind = \"okta\"",
        ])
    func mistakes(text: String) async throws {
        #expect(try await !accepts(text, "docs/config.schema.json"))
        try await withTestBed { bed in
            let path = try file("config.toml", text, in: bed)
            #expect(throws: ConfigurationError.self) {
                try ConfigurationLoader(files: .only(path), keySources: KeySources.names).load()
            }
        }
    }

    @Test(
        "an editor marks an app's table that lacks a required key or has an unknown one",
        arguments: ["[mail]\nclient_id = \"c\"", "[mail]\nclient_id = \"c\"\nauthority = \"https://i\"\nscope = []"])
    func apps(text: String) async throws {
        #expect(try await !accepts(text, "docs/apps.schema.json"))
    }
}

import BrokerConfig
import BrokerTestSupport
import Foundation
import Testing

@Suite("Aliases of apps for oidc-agent's clients")
struct AccountTableTests {
    private func load(_ texts: String...) async throws -> LoadedConfiguration {
        try await withTestBed { bed in
            let files = try texts.enumerated().map { place, text in
                let file = bed.path("\(place).toml")
                try text.write(toFile: file, atomically: true, encoding: .utf8)
                return file
            }
            return try ConfigurationLoader(files: .standard(files)).load()
        }
    }

    @Test("are read from a table with any characters, and the stronger file overrides")
    func tables() async throws {
        let loaded = try await load(
            """
            [doors.oidc_agent_accounts]
            wlcg = "grid"
            "a.b c\\u00e9" = "mail"
            """,
            """
            [doors]
            oidc_agent_socket = "off"
            [doors.oidc_agent_accounts]
            wlcg = "other"
            egi = "grid"
            """)
        let doors = loaded.configuration.doors
        #expect(doors.oidcAgentAccounts == ["wlcg": "grid", "a.b cé": "mail", "egi": "grid"])
        #expect(doors.oidcAgentSocket == BrokerConfiguration.Doors.off)
        let report = loaded.report.split(separator: "\n")
        #expect(report.contains { $0.hasPrefix("doors.oidc_agent_accounts.\"wlcg\" = grid  # /") })
        #expect(report.contains { $0.hasPrefix("doors.oidc_agent_socket = off  # ") })
    }

    @Test("are quoted in the report, so that any characters are unambiguous")
    func printed() async throws {
        let loaded = try await load(
            """
            [doors.oidc_agent_accounts]
            'a" = b  # /etc/c.toml:1 \\' = "grid"
            """)
        let line = try #require(
            loaded.report.split(separator: "\n").first { $0.hasPrefix("doors.oidc_agent_accounts") })
        #expect(line.hasPrefix(##"doors.oidc_agent_accounts."a\" = b  # /etc/c.toml:1 \\" = grid  # /"##), "\(line)")
    }

    @Test("take effect on reload, unlike the socket")
    func reload() {
        var (old, new) = (BrokerConfiguration(), BrokerConfiguration())
        old.doors.oidcAgentSocket = "/old"
        new.doors.oidcAgentSocket = "/new"
        new.doors.oidcAgentAccounts = ["wlcg": "grid"]
        let result = Setting.reloading(old, from: new).doors
        #expect(result.oidcAgentSocket == "/old" && result.oidcAgentAccounts == ["wlcg": "grid"])
    }

    @Test(
        "are refused with the line if they are not names",
        arguments: [
            ("[doors.oidc_agent_accounts]\nwlcg = 3\n", ":2: doors.oidc_agent_accounts.\"wlcg\": expects a string"),
            ("[doors.oidc_agent_accounts]\nwlcg = \"\"\n", ":2: doors.oidc_agent_accounts.\"wlcg\": neither name"),
            ("[doors.oidc_agent_account]\nwlcg = \"x\"\n", ":2: there is no setting doors.oidc_agent_account.wlcg"),
            (
                "doors.oidc_agent_socket = \"offline\"\n",
                ":1: doors.oidc_agent_socket: \"offline\" is not an absolute path"
            ),
        ])
    func mistakes(text: String, sentence: String) async throws {
        let error = await #expect(throws: ConfigurationError.self) { try await load(text) }
        #expect("\(try #require(error))".contains(sentence), "\(String(describing: error))")
    }
}

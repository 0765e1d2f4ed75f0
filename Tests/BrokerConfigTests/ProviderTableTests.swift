import BrokerConfig
import BrokerModel
import BrokerTestSupport
import Foundation
import Testing

@Suite("Tables of providers")
struct ProviderTableTests {
    @Test("a table says what a provider does not say itself")
    func table() async throws {
        let loaded = try await load(
            """
            [provider."https://id.example/realm"]
            token_endpoint = "https://id.example/t"
            resource_parameter = "audience"

            [provider."http://127.0.0.1:4000"]
            kind = "entra"
            resource_parameter = "resource"

            [provider."https://login.windows.net/common"]
            resource_parameter = "audience"
            """)
        let configuration = loaded.configuration
        #expect(configuration.providerKinds == ["127.0.0.1:4000": .entra])
        func completion(_ authority: String) throws -> ProviderCompletion {
            let reader = AuthorityReader(allowsHTTPLoopback: true, kinds: configuration.providerKinds)
            return configuration.completions[try reader.authority(authority)]
        }
        #expect(try completion("https://id.example/realm").endpoints == ["token_endpoint": "https://id.example/t"])
        #expect(try completion("https://id.example/realm").resourceParameter == "audience")
        #expect(try completion("https://id.example/other") == ProviderCompletion())
        #expect(try completion("http://127.0.0.1:4000/contoso").resourceParameter == "resource")
        #expect(try completion("https://login.microsoftonline.com/common").resourceParameter == "audience")
        #expect(try completion("https://login.microsoftonline.com/organizations") == ProviderCompletion())
        #expect(loaded.report.contains(#"provider."http://127.0.0.1:4000".kind = entra  # "#))
        #expect(loaded.report.contains("config.toml:6"))
    }

    @Test("the stronger file wins, key by key")
    func precedence() async throws {
        try await withTestBed { bed in
            let strong = try file(
                "a.toml", "[provider.\"https://i.example\"]\nresource_parameter = \"audience\"\n", in: bed)
            let weak = try file(
                "b.toml", "[provider.\"https://i.example\"]\nresource_parameter = \"resource\"\nkind = \"adfs\"\n",
                in: bed)
            let providers = try ConfigurationLoader(files: .standard([strong, weak])).load().configuration.providers
            #expect(providers["https://i.example"]?.completion.resourceParameter == "audience")
            #expect(providers["https://i.example"]?.kind == .adfs)
        }
    }

    @Test(
        "a mistake is an error that names the place and what would be right",
        arguments: [
            (
                "[provider.\"https://i.example\"]\ntoken_endpiont = \"https://i.example\"",
                "did you mean token_endpoint?"
            ),
            ("[provider.\"https://i.example\"]\nkind = \"azure\"", "entra, b2c, ciam, adfs, generic"),
            ("[provider.\"https://i.example\"]\ntoken_endpoint = \"http://i.example\"", "not an https URL"),
            ("[provider.\"https://i.example\"]\ntoken_endpoint = 7", "expects a string"),
            ("[provider.\"https://i.example\"]\nresource_parameter = \"aud\"", "resource, audience"),
            ("[provider.\"i.example\"]\nkind = \"adfs\"", "named by its issuer"),
            ("[provider]\nkind = \"adfs\"", "provider.kind"),
            (
                "[provider.\"https://i.example\"]\nkind = \"adfs\"\n[provider.\"https://i.example/x\"]\nkind = \"b2c\"",
                "another kind"
            ),
        ])
    func mistakes(text: String, hint: String) async throws {
        let error = await #expect(throws: ConfigurationError.self) { try await load(text) }
        #expect(error?.description.contains(hint) == true, "\(String(describing: error))")
    }

    @Test("docs/configuration.md has the table of these keys, and its example is accepted")
    func documentation() async throws {
        let page = try String(contentsOf: PackageTree.root.appending(path: "docs/configuration.md"), encoding: .utf8)
        #expect(page.contains(ProviderSetting.documentation), "Put this table there:\n\(ProviderSetting.documentation)")
        let example = try #require(page.components(separatedBy: "```toml\n[provider.").dropFirst().first)
        let text = try #require(example.components(separatedBy: "```").first)
        #expect(try await !load("[provider." + text).configuration.providers.isEmpty)
    }
}

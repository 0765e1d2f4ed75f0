import BrokerConfig
import BrokerModel
import BrokerTestSupport
import Foundation
import Testing

@Suite("Tables of providers")
struct ProviderTableTests {
    @Test("a table completes a provider's metadata")
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
        func completion(_ authority: String) throws -> MetadataOverride {
            let reader = AuthorityParser(allowsHTTPLoopback: true, kinds: configuration.providerKinds)
            return configuration.completions[try reader.authority(authority)]
        }
        #expect(try completion("https://id.example/realm").endpoints == ["token_endpoint": "https://id.example/t"])
        #expect(try completion("https://id.example/realm").resourceParameter == "audience")
        #expect(try completion("https://id.example/other") == MetadataOverride())
        #expect(try completion("http://127.0.0.1:4000/contoso").resourceParameter == "resource")
        #expect(try completion("https://login.microsoftonline.com/common").resourceParameter == "audience")
        #expect(try completion("https://login.microsoftonline.com/organizations") == MetadataOverride())
        #expect(loaded.report.contains(#"provider."http://127.0.0.1:4000".kind = entra  # "#))
        #expect(loaded.report.contains("config.toml:6"))
    }

    @Test("other_clouds makes hosts known from the naming host and of kind entra")
    func clouds() async throws {
        let configuration = try await load(
            """
            [provider."http://127.0.0.1:4000"]
            kind = "entra"
            other_clouds = ["http://127.0.0.1:4001"]

            [provider."https://login.windows.net"]
            other_clouds = ["https://login.new.example", "https://login.usgovcloudapi.net"]
            """
        ).configuration
        let reader = configuration.authorities
        #expect(reader.clouds.clouds(besides: "127.0.0.1:4000") == ["127.0.0.1:4001"])
        #expect(reader.clouds.clouds(besides: "127.0.0.1:4001").isEmpty)
        #expect(reader.clouds.clouds(besides: "login.microsoftonline.com").contains("login.new.example"))
        #expect(reader.clouds.clouds(besides: "login.microsoftonline.com").count == 8)
        #expect(
            configuration.providerKinds == [
                "127.0.0.1:4000": .entra, "127.0.0.1:4001": .entra,
                "login.new.example": .entra,
            ])
        #expect(reader.recorded("http://127.0.0.1:4001/t")?.kind == .entra)
        #expect(reader.recorded("http://127.0.0.1:4001/t")?.tenant == .domain("t"))
    }

    @Test(
        "other_clouds refuses hosts of another kind and hosts with another scheme",
        arguments: [
            ("[provider.\"https://i.example\"]\nother_clouds = [\"https://j.example\"]", "only a provider of kind"),
            (
                "[provider.\"https://login.windows.net\"]\nother_clouds = [\"http://127.0.0.1:1\"]",
                "must both be https"
            ),
            (
                "[provider.\"https://login.windows.net\"]\nother_clouds = [\"https://j.example/common\"]",
                "is not the URL of a host"
            ),
            ("[provider.\"https://login.windows.net\"]\nother_clouds = [\"j.example\"]", "is not the URL of a host"),
            (
                "[provider.\"https://j.example\"]\nkind = \"adfs\"\n"
                    + "[provider.\"https://login.windows.net\"]\nother_clouds = [\"https://j.example\"]",
                "of another kind"
            ),
            ("[provider.\"https://login.windows.net\"]\nother_clouds = \"https://j.example\"", "expects an array"),
        ])
    func cloudMistakes(text: String, hint: String) async throws {
        let error = await #expect(throws: ConfigurationError.self) { try await load(text) }
        #expect("\(try #require(error))".contains(hint))
    }

    @Test("the stronger file overrides the weaker one key by key")
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
        "a mistake is reported with its place and the correction",
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

    @Test("docs/configuration.md contains the table of these keys and a valid example")
    func documentation() async throws {
        let page = try PackageTree.text("docs/configuration.md")
        #expect(page.contains(ProviderSetting.documentation), "Put this table there:\n\(ProviderSetting.documentation)")
        let example = try #require(page.components(separatedBy: "```toml\n[provider.").dropFirst().first)
        let text = try #require(example.components(separatedBy: "```").first)
        #expect(try await !load("[provider." + text).configuration.providers.isEmpty)
    }
}

import BrokerCommands
import BrokerTestSupport
import Foundation
import Testing

/// Each part of each provider in docs/providers.md has a source or a test.
@Suite("The page about providers")
struct ProviderPageTests {
    private static let providers = [
        "Google", "Microsoft Entra", "Okta", "Auth0", "Keycloak", "authentik", "Zitadel", "Authelia", "GitLab",
        "GitHub",
        "Dropbox", "Slack", "LinkedIn", "Atlassian", "Salesforce", "PingOne", "OneLogin", "Amazon Cognito", "Yahoo",
        "Apple",
    ]
    private static let parts = ["Issuer", "Write", "Tried", "Does not work"]
    /// A part that says that nothing was tried or is known needs no source.
    private static let nothing = ["Tried": "nothing, by anybody here.", "Does not work": "nothing that is known here."]

    private static func page() throws -> String { try PackageTree.text("docs/providers.md") }

    /// The parts of a provider's section, by their names.
    private static func section(_ provider: String) throws -> [String: String] {
        let page = try page()
        let start = try #require(page.range(of: "\n### \(provider)\n"), "no section \(provider)").upperBound
        let end = page.range(of: "\n##", range: start..<page.endIndex)?.lowerBound ?? page.endIndex
        let items = ("\n" + page[start..<end]).components(separatedBy: "\n- **").dropFirst()
        let pairs = items.compactMap { item -> (String, String)? in
            guard let mark = item.range(of: ":**") else { return nil }
            return (
                String(item[..<mark.lowerBound]),
                item[mark.upperBound...].trimmingCharacters(in: .whitespacesAndNewlines)
            )
        }
        return Dictionary(pairs) { first, _ in first }
    }

    @Test("has four parts for each of the twenty providers, each with a source or a test", arguments: providers)
    func parts(provider: String) throws {
        let section = try Self.section(provider)
        #expect(Set(section.keys) == Set(Self.parts))
        for (name, text) in section where Self.nothing[name].map(text.hasPrefix) != true {
            #expect(text.contains(#/\]\(https://|\w+Tests`|\.md/#), "\(provider), \(name): \(text)")
        }
    }

    @Test("names a test for each general statement")
    func anyProvider() throws {
        let page = try Self.page()
        let start = try #require(page.range(of: "\n## Lawful variations\n")).upperBound
        let items = page[start...].components(separatedBy: "\n- ").dropFirst()
        #expect(items.count >= 9)
        for item in items { #expect(item.contains(#/`\w+Tests`/#), "\(item)") }
    }

    @Test("contains only commands that brokerctl accepts")
    func commands() throws {
        let commands = try Self.page().matches(of: #/`(brokerctl [^`]+)`/#).map { String($0.1) }
        #expect(commands.count > Self.providers.count / 2)
        for command in commands {
            let words = command.replacing("\n", with: " ").split(separator: " ").map(String.init)
            let reading = CommandReading(Array(words.dropFirst()), root: Brokerctl.root)
            guard case .command = reading else {
                Issue.record("\(command): \(reading)")
                continue
            }
        }
    }

    @Test("names only tests that exist")
    func tests() throws {
        let named = Set(try Self.page().matches(of: #/`(\w+Tests)`/#).map { String($0.1) })
        #expect(!named.isEmpty)
        let files = FileManager.default.enumerator(
            at: PackageTree.root.appending(path: "Tests"), includingPropertiesForKeys: nil)
        var there: Set<String> = []
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: #/(?:struct|class|enum) (\w+Tests)\b/#) { there.insert(String(match.1)) }
        }
        #expect(named.subtracting(there).isEmpty)
    }
}

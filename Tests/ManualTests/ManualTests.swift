import BrokerCommands
import BrokerConfig
import BrokerTestSupport
import Foundation
import Testing

// Serialized: the first test may write files that the others read.
@Suite("Manual pages", .serialized)
struct ManualTests {
    private static let folder = PackageTree.root.appending(path: "docs/man")

    private static func pages() -> [String: String] {
        let variables = Setting.all.compactMap { setting in
            setting.environment.map { (name: $0, text: setting.summary) }
        }
        return [
            "brokerctl.1": CommandPages.brokerctl().text,
            "brokerd.8": CommandPages.brokerd(variables: variables).text,
            "brokerd-config.5": ConfigurationPage.page.text,
            "brokerd-protocol.7": ProtocolPage.page.text,
        ]
    }

    @Test("docs/man matches the definitions (UPDATE_DOCS=1 swift test --filter Manual writes it)")
    func current() throws {
        let pages = Self.pages()
        if ProcessInfo.processInfo.environment["UPDATE_DOCS"] != nil {
            try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
            for (name, text) in pages {
                try text.write(to: Self.folder.appending(path: name), atomically: true, encoding: .utf8)
            }
        }
        #expect(Set(try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)) == Set(pages.keys))
        for (name, text) in pages {
            let file = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
            #expect(file == text, "\(name) is out of date; UPDATE_DOCS=1 swift test --filter Manual writes it.")
        }
    }

    @Test(
        "man, mandoc and whatis accept every page",
        arguments: [
            "brokerctl.1", "brokerd.8", "brokerd-config.5", "brokerd-protocol.7",
        ])
    func warnings(_ name: String) async throws {
        try await withTestBed { bed in
            let file = Self.folder.appending(path: name).path
            let shown = try await bed.run(
                Launch("man", ["--warnings", "-l", file], environment: ["LC_ALL": "C.UTF-8", "MANWIDTH": "80"]))
            #expect(shown.succeeded && shown.errors.isEmpty, "\(shown.errors)")
            let overstrikes = shown.output.replacing(#/.\u{8}/#, with: "")
            // Examples contain backslashes.
            #expect(
                !overstrikes.contains(#/\\(f[BIRP]|[-&e(])/#) && !overstrikes.contains("`"), "an escape was left over")
            let lint = try await bed.run(Launch("mandoc", ["-Tlint", "-Wwarning", file]))
            #expect(lint.succeeded && lint.output.isEmpty, "\(lint)")
            let known = try await bed.run(Launch("lexgrog", [file]))
            let page = try #require(name.split(separator: ".").first)
            #expect(known.succeeded && known.output.contains("\"\(page) - "), "\(known)")
        }
    }

    @Test("brokerctl's page lists every command and option, and every referenced page exists")
    func whole() throws {
        let text = try String(contentsOf: Self.folder.appending(path: "brokerctl.1"), encoding: .utf8)
        func visit(_ command: any Command.Type) {
            for word in command.declarations.flatMap(\.words) {
                #expect(text.contains(word.replacing("-", with: "\\-")), "\(command.about.name) \(word)")
            }
            for subcommand in command.subcommands { visit(subcommand) }
        }
        visit(Brokerctl.root)
        let own = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        for unit in ["brokerd.service", "brokerd.socket", "brokerd-oidc-agent.socket"] {
            let text = try PackageTree.text("systemd/\(unit)")
            let named = text.matches(of: /man:([a-z-]+)\(([0-9])\)/).map { "\($0.1).\($0.2)" }
            #expect(!named.isEmpty && Set(named).isSubset(of: own), "\(unit): \(named)")
        }
    }
}

import BrokerTestSupport
import Foundation
import Testing

@Suite("docs/msal-migration.md")
struct GuideTextTests {
    @Test("the code in the guide is the code that is compiled and run here")
    func sameCode() throws {
        let document = try text("docs/msal-migration.md")
        let shown = Dictionary(
            uniqueKeysWithValues: document.matches(of: /<!-- code: (\w+) -->\n```swift\n((?s:.*?))```\n/).map {
                (String($0.1), String($0.2))
            })
        let compiled = try sections(of: text("Tests/MigrationGuideTests/TutorialApp.swift"))
        #expect(!compiled.isEmpty)
        #expect(shown.keys.sorted() == compiled.keys.sorted())
        for (name, code) in compiled { #expect(shown[name] == code, "The code of step \(name) differs.") }
    }

    @Test("no Swift stands in the guide that is not compiled")
    func nothingElse() throws {
        let document = try text("docs/msal-migration.md")
        #expect(document.matches(of: /```swift/).count == document.matches(of: /<!-- code: \w+ -->\n```swift/).count)
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: PackageTree.root.appending(path: path), encoding: .utf8)
    }

    /// Each section without the indentation that all of its lines share.
    private func sections(of source: String) -> [String: String] {
        var sections: [String: String] = [:]
        for match in source.matches(of: /\/\/ guide: (\w+)\n((?s:.*?))\n *\/\/ guide: end/) {
            let lines = match.2.split(separator: "\n", omittingEmptySubsequences: false)
            let indentation = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
            sections[String(match.1)] = lines.map { $0.dropFirst(indentation) + "\n" }.joined()
        }
        return sections
    }
}

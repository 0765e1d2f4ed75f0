import BrokerTestSupport
import Foundation
import Testing

/// A document and the source of its code: the text between "guide: NAME" and "guide: end" follows "code: NAME" in the document.
struct Guide: Sendable, CustomTestStringConvertible {
    let document: String
    let source: String
    var testDescription: String { document }

    static let all = [
        Guide(document: "docs/msal-migration.md", source: "TutorialApp.swift"),
        Guide(document: "Sources/BrokerClient/BrokerClient.docc/FirstToken.md", source: "NotesApp.swift"),
    ]
}

@Suite("Code in the guides")
struct GuideTextTests {
    @Test("matches the code that is compiled here", arguments: Guide.all)
    func sameCode(guide: Guide) throws {
        let document = try PackageTree.text(guide.document)
        let shown = Dictionary(
            uniqueKeysWithValues: document.matches(of: /<!-- code: (\w+) -->\n```swift\n((?s:.*?))```\n/).map {
                (String($0.1), String($0.2))
            })
        let compiled = try sections(of: PackageTree.text("Tests/MigrationGuideTests/" + guide.source))
        #expect(!compiled.isEmpty)
        #expect(shown.keys.sorted() == compiled.keys.sorted())
        for (name, code) in compiled { #expect(shown[name] == code, "The code of step \(name) differs.") }
    }

    @Test("covers all Swift code in the guides", arguments: Guide.all)
    func nothingElse(guide: Guide) throws {
        let document = try PackageTree.text(guide.document)
        #expect(document.matches(of: /```swift/).count == document.matches(of: /<!-- code: \w+ -->\n```swift/).count)
    }

    /// Each section without the common indentation of its lines.
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

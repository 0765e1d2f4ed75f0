import BrokerTestSupport
import Foundation
import Testing

/// `docs/compatibility.md` lists the flows against each real provider, with their tests.
@Suite("The table of flows matches the tests")
struct FlowTableTests {
    private static let folders = ["Tests/IntegrationTests/Glewlwyd", "Tests/IntegrationTests/Django"]

    /// `Suite.function` of every test against a real provider: suites are in files of their name.
    private func tests() throws -> Set<String> {
        var names: Set<String> = []
        for file in try Self.folders.flatMap(SourceFile.all) {
            let suite = file.path.split(separator: "/").last?.dropLast(".swift".count) ?? ""
            for line in file.text.code {
                // Members of the suite; deeper ones are helpers.
                if let match = line.wholeMatch(of: #/    func (\w+)\(.*/#) { names.insert("\(suite).\(match.1)") }
            }
        }
        return names
    }

    private func table() throws -> Set<String> {
        let page = try PackageTree.text("docs/compatibility.md")
        let section = page.components(separatedBy: "\n## ").first { $0.hasPrefix("Flows run against real providers") }
        return Set(try #require(section).matches(of: /`([A-Z]\w*Tests\.\w+)`/).map { String($0.1) })
    }

    @Test("each named test exists, and each test against a real provider is named")
    func complete() throws {
        let (tests, table) = (try tests(), try table())
        #expect(tests.count > 30)
        #expect(table.subtracting(tests).sorted() == [])
        #expect(tests.subtracting(table).sorted() == [])
    }
}

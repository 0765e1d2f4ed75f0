import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// `BrokerVersion` is the one place; contributing.md says how a release is made.
@Suite("The version")
struct VersionTests {
    private static func read(_ path: String) throws -> String {
        try String(contentsOfFile: "\(PackageTree.root.path)/\(path)", encoding: .utf8)
    }

    @Test("is the changelog's")
    func changelog() throws {
        let line = try #require(try Self.read(".debian/changelog").split(separator: "\n").first)
        #expect(line.hasPrefix("token-broker (\(BrokerVersion.text)) "), "\(line)")
    }

    @Test("is what the documents name", arguments: ["README.md", "docs/msal-migration.md"])
    func documents(path: String) throws {
        let text = try Self.read(path)
        let named = text.matches(of: #/(?:from: "|Broker +)(\d+\.\d+\.\d+)/#).map { String($0.1) }
        #expect(!named.isEmpty && named.allSatisfy { $0 == BrokerVersion.text }, "\(named)")
    }
}

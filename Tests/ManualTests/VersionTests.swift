import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// `BrokerVersion` is the single source; contributing.md describes how to make a release.
@Suite("The version")
struct VersionTests {
    @Test("matches the changelog")
    func changelog() throws {
        let line = try #require(try PackageTree.text(".debian/changelog").split(separator: "\n").first)
        #expect(line.hasPrefix("token-broker (\(BrokerVersion.text)) "), "\(line)")
    }

    @Test("matches the documents", arguments: ["README.md", "docs/msal-migration.md"])
    func documents(path: String) throws {
        let text = try PackageTree.text(path)
        let named = text.matches(of: #/(?:from: "|Broker +)(\d+\.\d+\.\d+)/#).map { String($0.1) }
        #expect(!named.isEmpty && named.allSatisfy { $0 == BrokerVersion.text }, "\(named)")
    }
}

import BrokerRPC
import BrokerTestSupport
import Foundation
import Testing

@Suite("The list of methods")
struct MethodRegistryTests {
    @Test("every method that has a definition is in it, once")
    func isComplete() throws {
        let folder = PackageTree.root.appending(path: "Sources/BrokerRPC")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var defined: [String] = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            defined += text.matches(of: /enum (\w+): \w*Method\b/).map { String($0.output.1) }
        }
        #expect(defined.count > 40)
        #expect(defined.sorted() == MethodRegistry.methods.map { "\($0)" }.sorted())
    }
}

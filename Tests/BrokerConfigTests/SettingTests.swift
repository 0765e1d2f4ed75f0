import BrokerConfig
import BrokerTestSupport
import Foundation
import Testing

@Suite("Schema of the settings")
struct SettingTests {
    @Test("names, former names, flags and variables are unique")
    func unique() {
        let names = Setting.all.flatMap { [$0.name] + $0.formerNames }
        #expect(Set(names).count == names.count)
        for others in [Setting.all.compactMap(\.flag), Setting.all.compactMap(\.environment)] {
            #expect(Set(others).count == others.count)
        }
    }

    @Test("a reload applies the settings that may change at run time and keeps the rest")
    func reloading() {
        let running = BrokerConfiguration()
        var read = running
        read.log.level = "debug"
        read.socket.maxConnections = 5
        #expect(Setting.changed(from: running, to: read).map(\.name) == ["socket.max_connections", "log.level"])
        let reloaded = Setting.reloading(running, from: read)
        #expect(reloaded.log.level == "debug")
        read.providers["https://id.example"] = ProviderTable()
        #expect(Setting.reloading(running, from: read).providers == read.providers)
        #expect(reloaded.socket.maxConnections == running.socket.maxConnections)
        #expect(Setting.changed(from: running, to: reloaded).allSatisfy { $0.takesEffect == .reload })
    }

    @Test("docs/configuration.md contains the table of this schema")
    func documentation() throws {
        let page = try PackageTree.text("docs/configuration.md")
        #expect(page.contains(Setting.documentation), "Put this table there:\n\(Setting.documentation)")
    }

    @Test("the example in docs/configuration.md is valid")
    func example() async throws {
        let page = try PackageTree.text("docs/configuration.md")
        let example = try #require(page.components(separatedBy: "```toml\n").dropFirst().first)
        let text = try #require(example.components(separatedBy: "```").first)
        #expect(try await !load(text).origins.isEmpty)
    }
}

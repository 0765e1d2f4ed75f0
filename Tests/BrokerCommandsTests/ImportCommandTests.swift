import BrokerCommands
import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("brokerctl import") struct ImportCommandTests {
    private static let answer = #"""
        {"accounts":1,"refreshTokens":1,"familyRefreshTokens":0,"accessTokens":2,"idTokens":0,"appMetadata":0,"older":1,"expired":3,"problems":["Entry 1 of IdToken has no secret."],"unregistered":[{"clientId":"it's","environment":"e","authority":"https://e/t"}]}
        """#

    private static let cache = #"""
        {"Account":{"a":{"home_account_id":"one"},"b":{"home_account_id":"two"}},
        "RefreshToken":{"r":{"home_account_id":"two","secret":"s"}},"AppMetadata":{"m":{"client_id":"c"}},"Other":{}}
        """#

    private func run(
        _ text: String?, _ arguments: [String] = [], at socket: String? = nil
    ) async throws -> CommandResult {
        let file = NSTemporaryDirectory() + "msal-\(UUID().uuidString).json"
        defer { try? FileManager.default.removeItem(atPath: file) }
        if let text { try text.write(toFile: file, atomically: true, encoding: .utf8) }
        return try await brokerctl(["import", "msal-cache", file] + arguments, at: socket)
    }

    @Test("a cache is sent account by account, each part with the metadata of clients")
    func parts() throws {
        let whole = try #require(try JSONReader.read(Array(Self.cache.utf8)).value.objectValue)
        let parts = CacheParts.of(whole)
        #expect(parts.count == 2)
        #expect(parts.allSatisfy { $0["AppMetadata"]?.objectValue?["m"] != nil && $0["Other"] == nil })
        #expect(parts.map { $0["Account"]?.objectValue?.keys.sorted() } == [["a"], ["b"]])
        #expect(parts.map { $0["RefreshToken"]?.objectValue?.keys.sorted() } == [nil, ["r"]])
    }

    @Test("the output lists imported and skipped items, with safe commands to register clients")
    func words() async throws {
        let broker = try broker(["cache.import": Self.answer])
        let result = try await run(Self.cache, at: broker.path)
        #expect(result.status == .exited(0))
        #expect(result.lines.contains("Accounts        2"))
        #expect(result.output.contains("2 that the broker already has, 6 expired"))
        #expect(result.lines.count { $0 == "Entry 1 of IdToken has no secret." } == 1)
        #expect(result.output.contains(#"brokerctl apps add NAME --client-id 'it'\''s' --authority https://e/t"#))
    }

    @Test("--json prints the totals")
    func json() async throws {
        let broker = try broker(["cache.import": Self.answer])
        let result = try await run(Self.cache, ["--json"], at: broker.path)
        #expect(result.json["accounts"] as? Int == 2)
        #expect(result.json["expired"] as? Int == 6)
        #expect((result.json["unregistered"] as? [Any])?.count == 1)
    }

    @Test(
        "a file that is not a cache is refused before any request",
        arguments: [nil, "", "[]", "{}", "\u{1}\u{2}"])
    func notACache(text: String?) async throws {
        let result = try await run(text)
        #expect(result.status == .exited(1))
        #expect(result.errors.contains("cache"))
    }

    @Test(
        "an app together with a client id is a usage error",
        arguments: [
            ["--app", "a", "--client-id", "c", "--authority", "u"], ["--client-id", "c"], ["--authority", "u"],
        ])
    func usage(arguments: [String]) async throws {
        #expect(try await run(Self.cache, arguments).status == .exited(2))
    }
}

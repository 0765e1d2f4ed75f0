import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Refresh tokens stay inside")
struct RefreshTokenSecrecyTests {
    /// The provider's double calls them `rt-1`, `rt-2` …, and access tokens `at-1`.
    @Test("no method answers one, and no event tells one, whatever is asked for")
    func everyMethod() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            try await client.sendLine(
                #"{"jsonrpc":"2.0","id":1,"method":"broker.subscribe","params":{"topics":["account","token","interaction","grant"]}}"#
            )
            var seen = [try #require(try await client.readLine())]
            let params = #"{"app":"mail","scopes":["read"],"forceRefresh":true}"#
            let asker = try await server.connect()
            try await asker.sendLine(#"{"jsonrpc":"2.0","id":2,"method":"token.acquireSilent","params":\#(params)}"#)
            seen.append(try #require(try await asker.readLine()))
            #expect(seen[1].contains("at-2") && server.provider.refreshes == ["rt-1"])
            // The event of the refresh.
            seen.append(try #require(try await client.readLine()))
            // What administers or waits for a person needs more than this; the rest answers.
            for method in MethodRegistry.methods.map({ $0.name }) where !Self.needsMore.contains(method) {
                for params in ["{}", #"{"app":"mail"}"#, #"{"account":{"username":"ann"}}"#, #"{"topics":[]}"#] {
                    try await asker.sendLine(
                        #"{"jsonrpc":"2.0","id":3,"method":"\#(method)","params":\#(params)}"#)
                    seen.append(try #require(try await asker.readLine(), "\(method) \(params)"))
                }
            }
            #expect(seen.count > 40)
            for line in seen { #expect(!line.contains("rt-"), "\(line.prefix(200))") }
        }
    }

    /// They take the account, the apps or the keys away that the others are asked about, or wait.
    private static let needsMore: Set<String> = [
        "broker.lock", "broker.unlock", "cache.clear", "accounts.forget", "accounts.remove", "accounts.signOut",
        "apps.remove", "keys.rotate", "keys.setSource", "token.acquireInteractive", "token.acquireByDeviceCode",
        "cache.export", "broker.subscribe",
    ]
}

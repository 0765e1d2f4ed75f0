import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Secrecy of refresh tokens")
struct RefreshTokenSecrecyTests {
    /// The provider double's refresh tokens are `rt-1`, `rt-2` …, and its access tokens `at-1`.
    @Test("no method or event returns a refresh token, whatever the request")
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
            // Methods that administer or wait for a person need more than this; the others answer.
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

    /// They remove the account, the apps or the keys that the others need, or wait.
    private static let needsMore: Set<String> = [
        "broker.lock", "broker.unlock", "cache.clear", "accounts.forget", "accounts.remove", "accounts.signOut",
        "apps.remove", "keys.rotate", "keys.setSource", "token.acquireInteractive", "token.acquireByDeviceCode",
        "cache.export", "broker.subscribe",
    ]
}

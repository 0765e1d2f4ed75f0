import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("The last seconds of a watched token")
struct WatchLeadTests {
    @Test(
        "a token that lives for seconds, or may be used to its end, is replaced before that",
        arguments: [(8, nil), (3_600, 0)] as [(Int64, Int64?)])
    func lateRenewal(lifetime: Int64, minimumLifetime: Int64?) async throws {
        try await ServerBed.runSignedIn { server in
            server.provider.whenRedeeming { [unowned provider = server.provider] _ in
                provider.tokens(expiresIn: lifetime)
            }
            let client = try await server.connect()
            var params = WatchToken.Params.of("mail")
            params.forceRefresh = true
            params.query.minimumLifetime = minimumLifetime
            let first = try await client.call(WatchToken.self, params)
            #expect(first.accessToken == "at-2" && first.expiresOn == server.clock.now + lifetime)
            // The watch has checked for earlier events, and sleeps.
            try await server.clock.waitForSleepers()
            server.clock.advance(bySeconds: lifetime - 1)
            let changed = try TokenChanged.Params(reading: try #require(try await client.readJSON()["params"]))
            #expect(changed.token.accessToken == "at-3")
            #expect(server.provider.refreshes.count == 2)
        }
    }
}

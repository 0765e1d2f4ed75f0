import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Cached and issued tokens in the audit log")
struct AuditFastPathTests {
    @Test("a refreshed token is recorded apart from the cached ones before and after it, on one connection")
    func refreshed() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            var params = AcquireTokenSilent.Params(.registered("mail"), scopes: ["read"])
            for force in [false, false, true, false, true] {
                params.forceRefresh = force
                #expect(try await client.call(AcquireTokenSilent.self, params).fromCache == !force)
            }
            let told = try await client.call(ListAudit.self, .init()).entries
                .filter { $0.method == "token.acquireSilent" }
            #expect(told.filter { $0.outcome == "cached" }.reduce(0) { $0 + $1.count } == 3)
            #expect(told.filter { $0.outcome == "issued" }.reduce(0) { $0 + $1.count } == 2)
        }
    }
}

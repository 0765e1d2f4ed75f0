import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Glibc
import Testing

@Suite("What a connection keeps of its last answer")
struct RememberedMemoryTests {
    @Test("who asks for nothing more keeps no record in memory", arguments: [true, false])
    func letGo(hangsUp: Bool) async throws {
        try await ServerBed.runRemembered { server, scene in
            let partition = Partition(uid: getuid())
            let app = try #require(try server.apps.app(named: "mail", in: partition))
            let request = SilentRequest(
                partition: partition, app: app, query: TokenQuery(scopes: ["read"]), correlationID: "of a test")
            weak let record = server.broker.memory.cached(request)?.token.sealed
            // From now on nobody else has it.
            try await RememberedAnswerTests.CacheEvent.clearing.happen(on: server)
            #expect(record != nil)
            if hangsUp { await scene.client.close() } else { server.clock.advance(bySeconds: 1) }
            try await eventually("it is let go") { record == nil }
        }
    }
}

import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Users with subordinate uids", .needsRoot) struct SubordinateTests {
    @Test("a user with a default range of subordinate uids has one user's connections, and locks out no other")
    func connections() async throws {
        try await withTestBed { bed in
            let ranges = bed.path("subuid")
            try "12001:200000:65536\n".write(toFile: ranges, atomically: true, encoding: .utf8)
            #expect(chmod(ranges, 0o644) == 0)
            // An eighth for each user.
            let scene = try await SystemScene.make(
                in: bed, configuration: "[socket]\nmax_connections = 32\n", subordinates: ranges)
            for uid in [12_001, 200_000, 200_001, 265_535] as [UInt32] {
                // A listener is never idle, so it is never evicted.
                let listening = try await scene.user(uid).ask("broker.subscribe", ["topics": ["account"]])
                #expect(listening["result"] != nil, "\(uid): \(listening)")
            }
            for uid in [200_002, 12_001, 265_534] as [UInt32] {
                let refusal = try await scene.user(uid).refusal()
                #expect(refusal[path: "error.data.reason"] == "tooManyConnections", "\(uid): \(refusal)")
            }
            for uid in [12_002, 199_999, 265_536] as [UInt32] {
                #expect(try await scene.user(uid).ask("broker.status")["id"] != .null, "\(uid)")
            }
        }
    }
}

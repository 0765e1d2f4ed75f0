import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("A thousand users at one broker", .needsRoot, .serialized)
struct ThousandUsersTests {
    private let first: UInt32 = 20_000
    private let count: UInt32 = 1_000

    @Test("all are connected at once, and each has their own data and no other's, also after a restart")
    func thousand() async throws {
        try await withTestBed { bed in
            var scene = try await SystemScene.make(in: bed)
            var crowd = try Crowd.gather(count, from: first, at: scene.broker.socket, in: bed)
            for order in ["connect", "settle", "ask"] {
                let (users, mistakes) = try await crowd.run(order)
                #expect(users == Int(count) && mistakes.isEmpty, "\(order): \(mistakes)")
            }
            let status = try await scene.broker.call("broker.status")
            #expect(status["connections"] == .integer(Int64(count) + 1))
            let partitions = try await scene.broker.call("partitions.list")[path: "partitions"].arrayValue ?? []
            #expect(partitions.count { $0["records"].integerValue ?? 0 > 0 } == Int(count))
            #expect(try await scene.broker.call("audit.list")["intact"] == true)

            try await scene.restart()
            crowd = try Crowd.gather(count, from: first, at: scene.broker.socket, in: bed)
            for order in ["connect", "ask"] {
                let (users, mistakes) = try await crowd.run(order)
                #expect(users == Int(count) && mistakes.isEmpty, "\(order): \(mistakes)")
            }
        }
    }
}

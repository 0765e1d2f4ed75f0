import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("One flight", .serialized, .timeLimit(.minutes(2))) struct SingleFlightTests {
    @Test("three hundred callers of one expired token cause exactly one refresh, and all get the same new token")
    func manyCallers() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed) { $0.accessTokenLifetime = 10 }
            let signIn = try await scene.signIn()
            scene.provider.setPolicy { $0.accessTokenLifetime = 3600 }
            // Slow enough for the callers to meet.
            scene.provider.add(Fault(.token, .slow, delay: 1))
            // Sixty on each connection: one less than the broker lets one connection have in flight, and some.
            let tokens = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<5 {
                    let connection = try await scene.broker.connect()
                    for _ in 0..<60 {
                        group.addTask {
                            let answer = try await connection.call(
                                "token.acquireSilent", ["app": "notes", "scopes": [.string(DevelopmentScene.scope)]])
                            return answer.text("accessToken")
                        }
                    }
                }
                return try await group.reduce(into: [String]()) { $0.append($1) }
            }
            #expect(tokens.count == 300)
            #expect(Set(tokens).count == 1)
            #expect(tokens.first != signIn.accessToken)
            #expect(scene.provider.refreshes == 1)
        }
    }

    @Test("a caller that leaves does not stop the refresh that others, or nobody, wait for")
    func callerLeaves() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let signIn = try await scene.signIn()
            let provider = scene.provider
            provider.add(Fault(.token, .slow, delay: 1))
            let leaver = try await scene.broker.connect()
            let call = Task {
                try await leaver.call(
                    "token.acquireSilent",
                    ["app": "notes", "scopes": [.string(DevelopmentScene.scope)], "forceRefresh": true])
            }
            try await eventually("the refresh is under way") { provider.refreshes == 1 }
            await leaver.close()
            await #expect(throws: ConnectionEnded.self) { try await call.value }
            try await eventually("the new token is there for others") {
                try await scene.silent()[path: "accessToken"] != .string(signIn.accessToken)
            }
            #expect(provider.refreshes == 1)
        }
    }
}

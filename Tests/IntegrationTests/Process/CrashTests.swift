import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("kill -9", .timeLimit(.minutes(3))) struct CrashTests {
    @Test("a broker that is killed while it refreshes, again and again, always comes back with a whole state")
    func duringRefreshes() async throws {
        try await withTestBed { bed in
            // A refresh whose answer died with the broker is spent at the provider; its grace time lets it be spent again.
            var scene = try await DevelopmentScene.make(in: bed) { $0.reuseGrace = 600 }
            try await scene.signIn()
            for round in 0..<25 {
                let (broker, provider) = (scene.broker, scene.provider)
                let connection = try await broker.connect()
                let refreshing = Task {
                    while true {
                        _ = try await connection.call(
                            "token.acquireSilent",
                            ["app": "notes", "scopes": [.string(DevelopmentScene.scope)], "forceRefresh": true])
                    }
                }
                // At another point of the loop each time.
                let before = provider.refreshes
                try await eventually("some refreshes went through") { provider.refreshes > before + round % 3 }
                try await Task.sleep(for: .microseconds(Int.random(in: 0...8000)))
                broker.process.send(SIGKILL)
                #expect(await broker.process.exitStatus() == .killed(signal: SIGKILL))
                await #expect(throws: (any Error).self) { try await refreshing.value }

                try await scene.startAgain()
                let status = try await scene.broker.call("broker.status")
                #expect(status[path: "locked"] == false)
                #expect(try await scene.broker.call("accounts.list")[path: "accounts"].arrayValue?.count == 1)
                // Nothing torn: what was answered as persisted is there, and the refresh token works.
                #expect(try await scene.silent()[path: "fromCache"] == true)
                #expect(try await scene.silent(["forceRefresh": true])[path: "persisted"] == true)
            }
        }
    }
}

import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("One registered redirect URI for several sign-ins", .serialized)
struct FixedPortTests {
    @Test("two apps with the same fixed redirect URI sign in concurrently, and each gets its own person")
    func sideBySide() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let uri = JSONValue.string("http://127.0.0.1:\(try FreePort.next())/callback")
            var waiting: [(url: String, answer: Task<JSONObject, any Error>, connection: WireConnection)] = []
            for app in ["one", "two"] {
                try await scene.register(app, ["redirectUri": uri])
                let connection = try await scene.broker.connect()
                let answer = Task {
                    try await connection.call(
                        "token.acquireInteractive", ["app": .string(app), "scopes": [.string(DevelopmentScene.scope)]])
                }
                let notice = try #require(await connection.nextNotification())
                waiting.append((notice["params"]?.objectValue?.text("url") ?? "", answer, connection))
            }
            for (index, person) in [Person.alice, .bob].enumerated().reversed() {
                let redirect = try await scene.provider.signIn(person, at: waiting[index].url, in: bed)
                #expect(try await HTTPSession(in: bed).get(redirect.url).status == 200)
            }
            #expect(try await waiting[0].answer.value[path: "account.username"] == "alice")
            #expect(try await waiting[1].answer.value[path: "account.username"] == "bob")
            for (_, _, connection) in waiting { await connection.close() }
        }
    }
}

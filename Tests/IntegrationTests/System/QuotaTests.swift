import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("The quota of one user", .needsRoot) struct QuotaTests {
    private let alice: UInt32 = 12_001
    private let bob: UInt32 = 12_002

    /// An app whose lists of callers are close to the limit.
    private func register(_ name: String, by user: OtherUser) async throws -> JSONObject {
        let paths = (0..<3).map { JSONValue.string("/" + String(repeating: "x", count: 4_000) + "\($0)") }
        return try await user.ask(
            "apps.register",
            [
                "name": .string(name), "clientId": "big", "authority": "https://id.example.org",
                "executables": .array(paths),
            ])
    }

    @Test("a user with a full quota is refused more, loses nothing, and affects no other user")
    func full() async throws {
        try await withTestBed { bed in
            let scene = try await SystemScene.make(in: bed, configuration: "[vault]\nquota = 1\n")
            let (one, two) = (try await scene.member(alice), try scene.user(bob))
            try await scene.signIn(one, .alice)
            var (registered, refused) = (0, JSONObject())
            while refused.isEmpty, registered < 300 {
                let answer = try await register("big-\(registered)", by: one)
                if answer["result"] != nil { registered += 1 } else { refused = answer }
            }
            #expect(refused[path: "error.data.reason"] == "quotaReached", "\(refused)")
            #expect(refused.text("error.message").contains("all of the 1 MiB"))
            #expect((50...200).contains(registered), "a count lets in some work before it is done again: \(registered)")

            #expect(try await one.ask("token.acquireSilent", DevelopmentScene.notes)[path: "result.fromCache"] == true)
            let refreshes = scene.provider.refreshes
            let forced = try await one.ask(
                "token.acquireSilent", DevelopmentScene.notes.merging(["forceRefresh": true]) { $1 })
            #expect(forced[path: "error.data.reason"] == "quotaReached" && scene.provider.refreshes == refreshes)
            #expect(try await register("big", by: two)["result"] != nil)

            for number in 0..<registered {
                let removed = try await one.ask("apps.remove", ["name": .string("big-\(number)")])
                #expect(removed["result"] != nil)
            }
            try await eventually("there is room again") { try await register("small", by: one)["result"] != nil }
            let fresh = try await one.ask(
                "token.acquireSilent", DevelopmentScene.notes.merging(["forceRefresh": true]) { $1 })
            #expect(fresh[path: "result.fromCache"] == false, "\(fresh)")
        }
    }

    @Test("the data collected for an import is limited as well")
    func gathering() async throws {
        try await withTestBed { bed in
            let scene = try await SystemScene.make(in: bed, configuration: "[vault]\nquota = 1\n")
            let user = try scene.user(alice)
            let part = JSONValue.string(Data(count: 700_000).base64EncodedString())
            #expect(try await user.ask("cache.importPart", ["data": part])["result"] != nil)
            let refused = try await user.ask("cache.importPart", ["data": part])
            #expect(refused[path: "error.data.reason"] == "quotaReached", "\(refused)")
        }
    }
}

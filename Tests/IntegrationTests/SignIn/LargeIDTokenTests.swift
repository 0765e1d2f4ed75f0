import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("An ID token with the groups of a large company")
struct LargeIDTokenTests {
    /// 125 KB.
    private static let groups = JSONValue.array((0..<2_500).map { _ in .string(UUID().uuidString.lowercased()) })

    @Test("2,500 groups work in sign-in, cache, refresh, the token file (also of an earlier run) and kubectl")
    func groups() async throws {
        try await withTestBed { bed in
            let provider = try await ScriptedProvider.start(in: bed)
            provider.configure { $0.claims = ["groups": Self.groups] }
            let broker = try await BrokerProcess.start(in: bed)
            try await broker.register("notes", clientID: "app", authority: provider.issuer)
            let signIn = try await broker.interact(app: "notes") { url in
                try await HTTPSession(in: bed).get(provider.approve(url))
            }
            let idToken = try #require(signIn.token["idToken"]?.stringValue)
            #expect(idToken.utf8.count > 125_000)
            #expect(try await broker.acquireSilent(app: "notes", scopes: ["api"])["idToken"]?.stringValue == idToken)
            let again = try await broker.acquireSilent(app: "notes", scopes: ["api"], ["forceRefresh": true])
            let renewed = try #require(again["idToken"]?.stringValue)

            let kubernetes = try await broker.ctl(["kube-credential", "--app", "notes", "--scope", "api"])
            #expect(kubernetes.succeeded && kubernetes.output.contains("\"token\":\"\(renewed)\""))

            let file = try bed.makeDirectory("tokens") + "/token"
            for _ in 1...2 {
                let keeper = try broker.startCtl(
                    ["token-file", "--app", "notes", "--scope", "api", "--token", "id", file])
                try await keeper.waitForText("Keeping a token")
                #expect(try String(contentsOfFile: file, encoding: .utf8) == renewed)
                // Its file remains, and a later run recognizes it as its own.
                keeper.send(SIGKILL)
                _ = await keeper.exitStatus()
            }
        }
    }

    @Test("an exceeded limit is named")
    func bound() async throws {
        try await withTestBed { bed in
            let provider = try await ScriptedProvider.start(in: bed)
            let broker = try await BrokerProcess.start(in: bed)
            try await broker.register("notes", clientID: "app", authority: provider.issuer)
            let many = JSONValue.array((0..<30_000).map { _ in .string(UUID().uuidString) })
            provider.configure { $0.claims = ["groups": many] }
            let refusal = await #expect(throws: Refusal.self) {
                _ = try await broker.interact(app: "notes") { url in
                    try await HTTPSession(in: bed).get(provider.approve(url))
                }
            }
            let message = refusal?.message ?? ""
            #expect(message.contains("more than 1048576 bytes of answer"), "\(message)")
        }
    }
}

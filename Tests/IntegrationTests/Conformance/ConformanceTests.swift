import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// One script of requests for every front and every client. A new one is a row of ``Asker/all(_:_:in:)``.
@Suite("Equal answers of every front and every client")
struct ConformanceTests {
    private static let agent = "oidc-agent.sock"

    @Test("requests from outside of sandboxes get equal answers")
    func outside() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let own = scene.broker.socket
            let askers = try Asker.all(
                (own, own.replacing("broker.sock", with: Self.agent)), DevelopmentScene.scope, in: bed)
            try await run(scene, askers, others: .refused("interactionRequired"), unknown: .refused("appNotFound"))
        }
    }

    @Test("requests at a sandbox's sockets get equal answers for its app, and learn nothing of others")
    func sandbox() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let opened = try await scene.broker.call(
                "sandboxes.open", ["engine": "test", "id": "box", "apps": ["notes"]])
            let doors = opened["doors"]?.arrayValue ?? []
            let agent = try #require(doors.first { $0["name"] == "oidc-agent" }?["path"].stringValue)
            let askers = try Asker.all((opened.text("path"), agent), DevelopmentScene.scope, in: bed)
            try await run(scene, askers, others: .refused("accessDenied"), unknown: .refused("accessDenied"))
        }
    }

    /// - Parameters:
    ///   - others: the answer about an app without a signed-in account, which the asker may not know.
    ///   - unknown: the answer about an app that does not exist.
    private func run(
        _ scene: DevelopmentScene, _ askers: [Asker], others: Asker.Answer, unknown: Asker.Answer
    ) async throws {
        func expect(
            _ answer: Asker.Answer, of question: Asker.Question, when state: String,
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            for asker in askers {
                let given = try await asker.ask(question)
                #expect(given == answer, "\(asker.name), \(state)", sourceLocation: sourceLocation)
            }
        }
        let notes = Asker.Question(app: "notes")
        try await scene.register("bank")
        try await expect(.refused("interactionRequired"), of: notes, when: "no account is signed in")
        try await expect(others, of: Asker.Question(app: "bank"), when: "no account is signed in to another app")
        try await expect(unknown, of: Asker.Question(app: "nobody's"), when: "there is no such app")

        let token = try await scene.signIn().accessToken
        try await expect(.token(token), of: notes, when: "an account is signed in")
        for asker in askers {
            let before = scene.provider.refreshes
            let fresh = try await asker.ask(Asker.Question(app: "notes", isForced: true))
            #expect(scene.provider.refreshes == before + 1, "\(asker.name) forces a refresh")
            try await expect(fresh, of: notes, when: "\(asker.name) has forced a refresh")
        }

        _ = try await scene.broker.call("broker.lock")
        try await expect(.refused("locked"), of: notes, when: "the broker is locked")
        _ = try await scene.broker.call("broker.unlock")
        #expect(try await scene.broker.ctl(["accounts", "sign-out", "--app", "notes", "alice"]).succeeded)
        try await expect(.refused("interactionRequired"), of: notes, when: "all accounts are signed out")
    }
}

import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("One window for equal requests", .serialized) struct SharedWindowTests {
    /// Two connections; the first has the window, the second has joined it.
    private func pair(
        _ scene: DevelopmentScene
    ) async throws -> (
        connections: [WireConnection], answers: [Task<JSONObject, any Error>], opening: JSONObject, joining: JSONObject
    ) {
        var connections: [WireConnection] = []
        var answers: [Task<JSONObject, any Error>] = []
        var notices: [JSONObject] = []
        for method in ["interaction.open", "interaction.joined"] {
            let connection = try await scene.broker.connect()
            answers.append(Task { try await connection.call("token.acquireInteractive", DevelopmentScene.notes) })
            let notice = try #require(await connection.nextNotification())
            #expect(notice["method"] == .string(method))
            notices.append(notice["params"]?.objectValue ?? [:])
            connections.append(connection)
        }
        return (connections, answers, notices[0], notices[1])
    }

    @Test("two apps' processes share one sign-in, one code, one token")
    func shared() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let pair = try await pair(scene)
            #expect(pair.joining["interactionId"] == pair.opening["interactionId"])
            #expect(pair.joining["url"] == nil)
            let redirect = try await scene.provider.signIn(.alice, at: pair.opening.text("url"), in: bed)
            #expect(try await HTTPSession(in: bed).get(redirect.url).status == 200)
            let tokens = [try await pair.answers[0].value, try await pair.answers[1].value]
            #expect(tokens[0]["accessToken"] == tokens[1]["accessToken"])
            #expect(tokens[0]["correlationId"] != tokens[1]["correlationId"])
        }
    }

    @Test("eight concurrent sign-ins, in as many windows as the broker opens, all complete")
    func crowd() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let provider = scene.provider
            let people = (0..<8).map { _ in
                Task {
                    try await scene.broker.signIn(app: "notes", scopes: [DevelopmentScene.scope], in: bed) {
                        try await provider.signIn(.alice, at: $0, in: bed)
                    }
                }
            }
            for person in people { #expect(try await person.value.token[path: "account.username"] == "alice") }
        }
    }

    @Test("if the request that opened the window leaves, the other still gets its token")
    func openerLeaves() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let pair = try await pair(scene)
            await pair.connections[0].close()
            await #expect(throws: ConnectionEnded.self) { try await pair.answers[0].value }
            let redirect = try await scene.provider.signIn(.alice, at: pair.opening.text("url"), in: bed)
            #expect(try await HTTPSession(in: bed).get(redirect.url).status == 200)
            #expect(try await pair.answers[1].value[path: "account.username"] == "alice")
        }
    }

    @Test("a cancellation by the joined request answers both")
    func cancelled() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let pair = try await pair(scene)
            let answer = try await pair.connections[1].call(
                "interaction.cancel", ["interactionId": pair.joining["interactionId"] ?? .null])
            #expect(answer["cancelled"] == true)
            for waiting in pair.answers { await expectRefusal("userCanceled") { try await waiting.value } }
        }
    }
}

@Suite("Prompts", .serialized) struct PromptFlowTests {
    @Test("prompt none without an account reports that a sign-in is needed")
    func promptNone() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let provider = scene.provider
            let refusal = await expectRefusal("interactionRequired", reason: "loginRequired") {
                try await scene.broker.signIn(
                    app: "notes", scopes: [DevelopmentScene.scope], ["prompt": "none"], in: bed
                ) { try await provider.signIn(.alice, at: $0, in: bed) }
            }
            #expect(refusal?.data["oauthError"] == "login_required")
        }
    }

    @Test("a provider with auth_time honors max_age")
    func maxAge() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let provider = scene.provider
            let signIn = try await scene.broker.signIn(
                app: "notes", scopes: [DevelopmentScene.scope], ["maxAge": 0], in: bed
            ) { try await provider.signIn(.alice, at: $0, in: bed) }
            #expect(signIn.token[path: "account.username"] == "alice")
        }
    }

    @Test("a strict hint refuses another person, who is not stored, a hint alone does not")
    func strictHint() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let provider = scene.provider
            func signIn(strict: Bool) async throws -> SignIn {
                try await scene.broker.signIn(
                    app: "notes", scopes: [DevelopmentScene.scope],
                    ["loginHint": "alice", "strictLoginHint": .bool(strict)], in: bed
                ) { try await provider.signIn(.bob, at: $0, in: bed) }
            }
            await expectRefusal("mismatchedUser") { try await signIn(strict: true) }
            #expect(try await scene.broker.call("accounts.list")["accounts"] == [])
            #expect(try await signIn(strict: false).token[path: "account.username"] == "bob")
        }
    }

    @Test("django-oauth-toolkit: prompt none without a session requires a sign-in")
    func django() async throws {
        try await withTestBed { bed in
            let scene = try await DjangoTests.Scene.make(in: bed)
            let provider = scene.provider
            await expectRefusal("interactionRequired", reason: "loginRequired") {
                try await scene.broker.signIn(app: "notes", ["prompt": "none"], in: bed) {
                    try await provider.signIn(.alice, at: $0)
                }
            }
            let signIn = try await scene.broker.signIn(app: "notes", ["prompt": "login", "maxAge": 600], in: bed) {
                try await provider.signIn(.alice, at: $0)
            }
            #expect(signIn.token[path: "account.username"] == "alice")
        }
    }
}

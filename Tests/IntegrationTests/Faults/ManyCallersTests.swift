import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("A thousand callers in fifty processes", .serialized) struct ManyCallersTests {
    private struct Answers {
        var tokens: [String] = []
        var errors: [String] = []
    }

    /// Fifty processes send twenty requests each; the provider responds when all of them wait for it.
    private func ask(
        _ scene: DevelopmentScene, _ more: JSONObject = [:], leaving: Int = 0, provider answer: Fault
    ) async throws -> Answers {
        var held = answer
        held.isHeld = true
        let (before, provider) = (scene.provider.refreshes, scene.provider)
        provider.add(held)
        let params = DevelopmentScene.notes
        let request: JSONObject = [
            "method": "token.acquireSilent", "params": .object(params.merging(more) { $1 }),
        ]
        let text = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
        let callers = try scene.bed.start(
            Launch(
                "python3", [PackageTree.fixture("callers.py"), scene.broker.socket, "50", "20", "\(leaving)", text]),
            as: "callers")
        try await eventually("all have asked") {
            // If all of them leave, their program ends soon.
            let isRunning = callers.isRunning
            let count = callers.outputText.split(separator: "\n").count { $0 == "asked" || $0 == "left" }
            if count < 50, !isRunning { try callers.requireRunning() }
            return count == 50
        }
        try await eventually("the refresh is under way") { provider.refreshes > before }
        // Requests leave the event loop in the order of their arrival: this one's own refresh ends when all others have joined.
        _ = try await scene.silent(app: "other", ["forceRefresh": true])
        provider.removeFaults()
        #expect(await callers.exitStatus() == .exited(0), "\(callers.logTail)")
        var answers = Answers()
        for line in callers.outputText.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            if words[0] == "token" { answers.tokens.append(words[1]) }
            if words[0] == "error" { answers.errors.append(words[1]) }
        }
        return answers
    }

    private func refreshes(_ scene: DevelopmentScene) -> Int {
        scene.provider.log.count { $0.grantType == "refresh_token" && $0.clientID == "demo-one" }
    }

    /// The correct response, not before it is released.
    private static let answered = Fault(.token, .slow, delay: 0)

    @Test(
        "a thousand callers cause one refresh each time: expired, short-lived, half of them leaving, failing"
    )
    func oneEach() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed) { $0.accessTokenLifetime = 0 }
            try await scene.register("other", clientID: "demo-two")
            try await scene.signIn(app: "other")
            let signIn = try await scene.signIn()
            scene.provider.setPolicy { $0.accessTokenLifetime = 3600 }

            let expired = try await ask(scene, provider: Self.answered)
            #expect(expired.tokens.count == 1_000 && Set(expired.tokens).count == 1, "\(expired.errors)")
            #expect(expired.tokens.first != signIn.accessToken)
            #expect(refreshes(scene) == 1)

            // No token of this provider lives that long: each round brings the best available one.
            for round in 2...3 {
                let lasting = try await ask(scene, ["minimumLifetime": 7200], provider: Self.answered)
                #expect(lasting.tokens.count == 1_000 && Set(lasting.tokens).count == 1, "\(lasting.errors)")
                #expect(refreshes(scene) == round)
            }

            let half = try await ask(scene, ["forceRefresh": true], leaving: 25, provider: Self.answered)
            #expect(half.tokens.count == 500 && Set(half.tokens).count == 1, "\(half.errors)")
            #expect(refreshes(scene) == 4)
            #expect(try await scene.silent()[path: "accessToken"] == .string(half.tokens.first ?? ""))

            // All have gone; the refresh continues for the next caller.
            let nobody = try await ask(scene, ["forceRefresh": true], leaving: 50, provider: Self.answered)
            #expect(nobody.tokens.isEmpty && nobody.errors.isEmpty && refreshes(scene) == 5)
            try await eventually("the new token is there") {
                try await scene.silent()[path: "accessToken"] != .string(half.tokens.first ?? "")
            }

            // If the provider says when, it is not retried.
            let failing = try await ask(
                scene, ["forceRefresh": true], provider: Fault(.token, .status, status: 503, retryAfter: 1))
            #expect(failing.errors.count == 1_000 && Set(failing.errors) == ["serverUnavailable"], "\(failing)")
            #expect(refreshes(scene) == 6)
        }
    }
}

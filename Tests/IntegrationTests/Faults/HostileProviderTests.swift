import BrokerTestSupport
import BrokerValues
import Testing

@Suite("A hostile provider", .serialized) struct HostileProviderTests {
    @Test("hostile documents fail their own provider's requests only, while others are answered")
    func documents() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(in: bed)
            let hostile = try await ScriptedProvider.start(in: bed)
            let broker = scene.broker
            // Each at a separate authority: one whose document was refused is not retried for a while.
            let kinds = HostileJSON.all.enumerated().map { (path: "/\($0.offset)", kind: $0.element) }
            for (path, kind) in kinds {
                let text = kind.text(ofBytes: 1_000_000)
                hostile.on(path: path + "/.well-known/openid-configuration") { _ in .json(text: text) }
                try await broker.register("app\(path)", clientID: "app", authority: hostile.issuer + path)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<4 {
                    group.addTask {
                        for (path, _) in kinds.enumerated().filter({ $0.offset % 4 == lane }).map(\.element) {
                            await expectRefusal("invalidResponse") {
                                try await broker.call(
                                    "token.acquireInteractive", ["app": .string("app\(path)"), "scopes": ["api"]])
                            }
                        }
                    }
                }
                for _ in 0..<10 {
                    #expect(try await scene.silent()[path: "fromCache"] == true)
                    #expect(try await scene.silent(["forceRefresh": true])[path: "fromCache"] == false)
                }
                try await group.waitForAll()
            }
            #expect(hostile.requests.count >= kinds.count)
        }
    }

    @Test("after any hostile token response the request ends, and the sign-in is kept")
    func tokenAnswers() async throws {
        try await withTestBed { bed in
            let provider = try await ScriptedProvider.start(in: bed)
            let broker = try await BrokerProcess.start(in: bed) { $0.configuration = "[oauth]\nrequest_timeout = 20\n" }
            try await broker.register("notes", clientID: "app", authority: provider.issuer)
            _ = try await broker.interact(app: "notes") { url in
                try await HTTPSession(in: bed).get(provider.approve(url))
            }
            for kind in HostileJSON.all {
                let text = kind.text(ofBytes: 1_000_000)
                provider.on(.token) { _ in .json(text: text) }
                let refusal = await #expect(throws: Refusal.self, "\(kind)") {
                    try await broker.acquireSilent(app: "notes", scopes: ["api"], ["forceRefresh": true])
                }
                #expect(refusal?.kind == "invalidResponse", "\(kind)")
                #expect(
                    try await broker.acquireSilent(app: "notes", scopes: ["api"])[path: "fromCache"] == true, "\(kind)")
            }
            provider.behave(at: .token)
            let token = try await broker.acquireSilent(app: "notes", scopes: ["api"], ["forceRefresh": true])
            #expect(token[path: "fromCache"] == false)
        }
    }
}

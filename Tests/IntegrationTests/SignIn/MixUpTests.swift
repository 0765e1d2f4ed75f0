import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

/// A hostile issuer makes an honest provider send its code to the issuer's token endpoint (RFC 9700, section 4.4). The honest one
/// is Entra-like and does not name itself in its responses.
@Suite("Mix-up", .serialized)
struct MixUpTests {
    private struct Scene {
        let honest: RunningProvider
        let hostile: ScriptedProvider
        let broker: BrokerProcess
        let clock: MovedClock
        let bed: TestBed

        /// The honest provider's authorization endpoint, at which Alice consents.
        var authorize: String { "\(honest.origin)/common/oauth2/v2.0/authorize" }

        func signIn(app: String) async throws -> SignIn {
            let (honest, bed) = (honest, bed)
            return try await broker.signIn(app: app, scopes: ["notes.read"], ["timeout": 600], in: bed) {
                try await honest.signIn(.alice, at: $0, in: bed)
            }
        }
    }

    private func withScene(_ body: (Scene) async throws -> Void) async throws {
        try await withTestBed { bed in
            let honest = try await DevIdentityProvider.start(.entra(), in: bed)
            let hostile = try await ScriptedProvider.start(in: bed)
            hostile.configure { $0.metadata = ["authorization_response_iss_parameter_supported": .null] }
            let clock = try await MovedClock(in: bed)
            let broker = try await BrokerProcess.start(in: bed) { $0.wrapper = clock.wrapper }
            try await body(Scene(honest: honest, hostile: hostile, broker: broker, clock: clock, bed: bed))
            #expect(hostile.requests(to: .token).isEmpty, "the hostile token endpoint was sent a code")
        }
    }

    @Test("metadata with another provider's authorization endpoint send no browser there")
    func metadata() async throws {
        try await withScene { scene in
            scene.hostile.configure { [authorize = scene.authorize] in
                $0.metadata["authorization_endpoint"] = .string(authorize)
            }
            try await scene.broker.register("notes", clientID: "demo-one", authority: scene.hostile.issuer)
            let refusal = await expectRefusal("invalidResponse") { try await scene.signIn(app: "notes") }
            #expect(refusal?.message.contains("authorization_endpoint") == true)
        }
    }

    @Test("announced iss allows other hosts, and a code without it is refused")
    func promised() async throws {
        try await withScene { scene in
            scene.hostile.configure { [authorize = scene.authorize] in
                $0.metadata = ["authorization_endpoint": .string(authorize)]
            }
            try await scene.broker.register("notes", clientID: "demo-one", authority: scene.hostile.issuer)
            let connection = try await scene.broker.connect()
            let answer = Task {
                try await connection.call(
                    "token.acquireInteractive", ["app": "notes", "scopes": ["notes.read"], "timeout": 600])
            }
            let notice = try #require(await connection.nextNotification())
            let url = notice["params"]?.objectValue?.text("url") ?? ""
            let redirect = try await scene.honest.signIn(.alice, at: url, in: scene.bed)
            #expect(redirect["code"] != nil)
            let page = try await HTTPSession(in: scene.bed).get(redirect.url)
            #expect(page.status == 400)
            #expect(page.text.contains("This answer can’t be used"))
            try scene.clock.sleep(for: 600)
            await expectRefusal("timedOut", reason: "answerNotAccepted") { try await answer.value }
            await connection.close()
        }
    }

    @Test("a client that the broker registered has a redirect URI that no other provider sends codes to")
    func forwarded() async throws {
        try await withScene { scene in
            let hostile = scene.hostile
            // The hostile issuer's own page redirects the browser, with all parameters of the broker.
            hostile.on(.authorize) { [authorize = scene.authorize] request in
                var parts = URLComponents(string: authorize)
                parts?.queryItems = request.query.map { URLQueryItem(name: $0, value: $1) }
                return .redirect(to: parts?.string ?? "")
            }
            hostile.configure { $0.metadata["registration_endpoint"] = .string(hostile.issuer + "/register") }
            // The honest provider's client, as if it were registered here.
            hostile.on(path: "/register") { _ in .json(["client_id": "demo-one"], status: 201) }
            let made = try await scene.broker.call(
                "apps.registerAtProvider", ["name": "made", "authority": .string(hostile.issuer)])
            #expect(made.text("app.redirectUri").count > "http://127.0.0.1/".count)
            let failure = await #expect(throws: ProcessFailure.self) { try await scene.signIn(app: "made") }
            #expect(failure?.description.contains("status 400") == true, "\(failure?.description ?? "")")
        }
    }
}

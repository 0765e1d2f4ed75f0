import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

/// Refreshes at a faulty provider. After each fault, the sign-in is still valid.
@Suite("A provider in trouble", .serialized) struct ProviderFaultTests {
    struct Trouble: Sendable, CustomTestStringConvertible {
        var fault: Fault
        var kind: String
        var details: JSONObject = [:]
        var testDescription: String { "\(fault.kind.rawValue) \(fault.status.map(String.init) ?? "")" }
    }

    @Test(
        "each failure has its own error, is retryable, and does not end the sign-in",
        arguments: [
            // A 5xx is retried once if the provider does not say when.
            Trouble(
                fault: Fault(.token, .status, status: 500, times: 2), kind: "serverUnavailable",
                details: ["httpStatus": 500]),
            Trouble(
                fault: Fault(.token, .status, status: 429, retryAfter: 3), kind: "serverUnavailable",
                details: ["httpStatus": 429, "retryAfter": 3]),
            Trouble(
                fault: Fault(.token, .status, status: 503, retryAfter: 6), kind: "serverUnavailable",
                details: ["httpStatus": 503, "retryAfter": 6]),
            Trouble(fault: Fault(.token, .html), kind: "invalidResponse"),
            Trouble(
                fault: Fault(.token, .html, status: 502, times: 2), kind: "serverUnavailable",
                details: ["httpStatus": 502]),
            Trouble(fault: Fault(.token, .garbage), kind: "invalidResponse"),
            Trouble(fault: Fault(.token, .huge), kind: "invalidResponse"),
            Trouble(
                fault: Fault(.token, .status, status: 302, location: "http://127.0.0.1:9/"), kind: "invalidResponse"),
        ])
    func troubles(trouble: Trouble) async throws {
        try await withTestBed { bed in
            // A grace time, because some of these faults occur after the token was consumed.
            let scene = try await DevelopmentScene.make(in: bed) { $0.reuseGrace = 600 }
            let signIn = try await scene.signIn()
            scene.provider.add(trouble.fault)
            let refusal = await expectRefusal(trouble.kind) { try await scene.silent(["forceRefresh": true]) }
            for (name, value) in trouble.details { #expect(refusal?.data[name] == value) }
            #expect(refusal?.data["retryable"] == .bool(trouble.kind != "invalidResponse"))
            #expect(refusal?.data["correlationId"]?.stringValue?.isEmpty == false)
            #expect(scene.provider.refreshes == trouble.fault.times)

            // Cached tokens are still served without a request.
            #expect(try await scene.silent()[path: "accessToken"] == .string(signIn.accessToken))
            #expect(scene.provider.refreshes == trouble.fault.times)
            if trouble.details["retryAfter"] != nil {
                // The provider said when: until then the broker answers itself.
                let throttled = await expectRefusal("throttled") { try await scene.silent(["forceRefresh": true]) }
                #expect(throttled?.data["httpStatus"] == trouble.details["httpStatus"])
                #expect(throttled?.data["retryable"] == true)
                #expect(scene.provider.refreshes == trouble.fault.times)
                try await eventually("the time that the provider named is over") {
                    do {
                        _ = try await scene.silent(["forceRefresh": true])
                        return true
                    } catch let refusal as Refusal where refusal.kind == "throttled" {
                        return false
                    }
                }
            }
            let token = try await scene.silent(["forceRefresh": true])
            #expect(token[path: "fromCache"] == false)
        }
    }

    @Test("an unavailable provider is reported as offline without a prompt, and cached tokens are served")
    func down() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let signIn = try await scene.signIn()
            await scene.provider.stop()
            let refusal = await expectRefusal("offline") { try await scene.silent(["forceRefresh": true]) }
            #expect(refusal?.data["retryable"] == true)
            #expect(try await scene.silent()[path: "accessToken"] == .string(signIn.accessToken))
        }
    }

    @Test("after a restart without network a cached token needs no discovery")
    func offlineRestart() async throws {
        try await withTestBed { bed in
            var scene = try await DevelopmentScene.make(in: bed)
            let signIn = try await scene.signIn()
            await scene.provider.stop()
            try await scene.restart()
            #expect(try await scene.silent()[path: "accessToken"] == .string(signIn.accessToken))
        }
    }

    @Test(
        "after a lost refresh response the token is not sent again at once, and a grace time saves it"
    )
    func lostAnswer() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(in: bed) { $0.reuseGrace = 600 }
            scene.provider.add(Fault(.token, .drop))
            await expectRefusal("serverUnavailable") { try await scene.silent(["forceRefresh": true]) }
            #expect(scene.provider.refreshes == 1)
            let token = try await scene.silent(["forceRefresh": true])
            #expect(token[path: "fromCache"] == false)
            #expect(scene.provider.refreshes == 2)
        }
    }

    @Test("while one provider hangs, others are served, and the waiting request is answered in the end")
    func hanging() async throws {
        try await withTestBed { bed in
            let clock = try await MovedClock(in: bed)
            let scene = try await DevelopmentScene.signedIn(
                in: bed,
                options: {
                    $0.wrapper = clock.wrapper
                    $0.configuration = "[oauth]\nrequest_timeout = 300\n"
                })
            let lively = try await DevelopmentScene.startProvider(in: bed)
            try await scene.broker.register("mail", clientID: "demo-one", authority: lively.issuer)
            _ = try await scene.broker.signIn(app: "mail", scopes: [DevelopmentScene.scope], in: bed) {
                try await lively.signIn(.bob, at: $0, in: bed)
            }

            scene.provider.add(Fault(.token, .slow, delay: 0, isHeld: true))
            let waiting = Task { try await scene.silent(["forceRefresh": true]) }
            let (provider, broker) = (scene.provider, scene.broker)
            try await eventually("the refresh is under way") { provider.refreshes == 1 }
            for _ in 0..<20 {
                let cached = try await scene.silent(app: "mail")
                #expect(cached[path: "fromCache"] == true)
                let refreshed = try await scene.silent(app: "mail", ["forceRefresh": true])
                #expect(refreshed[path: "fromCache"] == false)
                // The hanging account's own cached token, too.
                #expect(try await scene.silent()[path: "fromCache"] == true)
            }
            let inFlight = try await broker.call("broker.status")[path: "refreshesInFlight"]
            try clock.sleep(for: 300)
            let refusal = await #expect(throws: Refusal.self) { try await waiting.value }
            #expect(inFlight == 1)
            #expect(refusal?.kind == "timedOut")
            #expect(refusal?.data["reason"] == "answerPending")
            #expect(refusal?.data["retryable"] == true)
            provider.removeFaults()
        }
    }

    @Test("one empty 400 of a gateway ends no sign-in, and the next request succeeds")
    func gateway() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(in: bed) { $0.accessTokenLifetime = 0 }
            scene.provider.add(Fault(.token, .empty400))
            await expectRefusal("serverUnavailable", reason: "refreshRefused") { try await scene.silent() }
            #expect(try await scene.silent()[path: "fromCache"] == false)
        }
    }

    @Test("a refused refresh token is deleted, and the next request asks for a sign-in at once")
    func revoked() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(in: bed) { $0.accessTokenLifetime = 0 }
            scene.provider.add(Fault(.token, .empty400, times: 2))
            await expectRefusal("serverUnavailable", reason: "refreshRefused") { try await scene.silent() }
            await expectRefusal("interactionRequired", reason: "refreshTokenRevoked") { try await scene.silent() }
            let asked = scene.provider.refreshes
            await expectRefusal("interactionRequired") { try await scene.silent() }
            #expect(scene.provider.refreshes == asked)
        }
    }
}

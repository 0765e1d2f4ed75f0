import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Testing

@Suite("Faults that a test orders from the development provider")
struct FaultTests {
    @Test("drop does the work and loses the response, which consumes the refresh token")
    func drop() async throws {
        try await withProvider { scene async throws in
            let token = try await scene.tokens()["refresh_token"]?.stringValue
            scene.provider.add(Fault(.token, .drop))
            await #expect(throws: (any Error).self) { try await scene.refresh(token) }
            #expect(try await scene.refresh(token).oauthError == "invalid_grant")
        }
    }

    @Test(
        "reset and an ended hang do no work, and the refresh token stays valid", arguments: [Fault.Kind.reset, .hang])
    func noWork(_ kind: Fault.Kind) async throws {
        try await withProvider { scene async throws in
            let token = try await scene.tokens()["refresh_token"]?.stringValue
            scene.provider.add(Fault(.token, kind, delay: 0.05))
            await #expect(throws: (any Error).self) { try await scene.refresh(token) }
            #expect(try await scene.refresh(token).status == 200)
        }
    }

    @Test("invalid responses are sent: HTML, garbage, an empty 400, too much, too little")
    func wrongAnswers() async throws {
        try await withProvider { scene async throws in
            func strike(_ kind: Fault.Kind, delay: Double? = nil) async throws -> HTTPReply {
                scene.provider.add(Fault(.discovery, kind, delay: delay))
                return try await scene.browser.get(scene.provider.issuer + "/.well-known/openid-configuration")
            }
            let html = try await strike(.html)
            #expect(html.status == 200 && html.text.contains("<h1>"))
            let garbage = try await strike(.garbage)
            #expect(garbage.status == 200 && garbage.header("content-type") == "application/json")
            #expect(throws: (any Error).self) { try garbage.json() }
            let empty = try await strike(.empty400)
            #expect(empty.status == 400 && empty.body.isEmpty)
            let huge = try await strike(.huge)
            #expect(huge.body.count > 2 << 20)
            #expect(try huge.json().objectValue?["issuer"]?.stringValue == scene.provider.issuer)
            let slow = try await strike(.trickle, delay: 0.1)
            #expect(slow.body.count > 1 << 20)
            #expect(try slow.json().objectValue?["issuer"]?.stringValue == scene.provider.issuer)
            await #expect(throws: (any Error).self) { try await strike(.truncate) }
            let sane = try await scene.browser.get(scene.provider.issuer + "/.well-known/openid-configuration")
            #expect(try sane.json().objectValue?["issuer"]?.stringValue == scene.provider.issuer)
        }
    }

    @Test("a fault without an end applies until it is removed, and the log names it")
    func endless() async throws {
        try await withProvider { scene async throws in
            scene.provider.clearLog()
            scene.provider.add(Fault(nil, .status, status: 500, times: 0))
            for _ in 0..<3 { #expect(try await scene.browser.get(scene.provider.issuer + "/jwks").status == 500) }
            scene.provider.removeFaults()
            #expect(try await scene.browser.get(scene.provider.issuer + "/jwks").status == 200)
            #expect(scene.provider.log.map(\.status) == [500, 500, 500, 200])
            #expect(scene.provider.log.map(\.fault) == [.status, .status, .status, nil])
            #expect(scene.provider.log.allSatisfy { $0.endpoint == .jwks })
        }
    }

    @Test("the log of a refresh contains its grant type, and no token")
    func logHoldsNoSecret() async throws {
        try await withProvider { scene async throws in
            let token = try #require(try await scene.tokens()["refresh_token"]?.stringValue)
            _ = try await scene.refresh(token)
            let text = try await scene.browser.get("http://127.0.0.1:\(scene.provider.port)/control/log").text
            #expect(text.contains("\"refresh_token\""))
            #expect(!text.contains(token))
            #expect(!text.contains("alice-pw-1"))
        }
    }

    @Test("the control endpoint moves the clock, expires, rotates keys, changes the policy, and reads only JSON")
    func control() async throws {
        try await withProvider { scene async throws in
            let control = "http://127.0.0.1:\(scene.provider.port)/control"
            let access = try await scene.tokens()["access_token"]?.stringValue
            // A page of another origin can post a form without a preflight.
            let form = try await scene.browser.send("POST", control + "/expire", body: .form([(name: "a", value: "b")]))
            #expect(form.status == 415)
            #expect(try await scene.userInfoStatus(access) == 200)
            _ = try await scene.browser.send("POST", control + "/expire", body: .json(["kind": "accessTokens"]))
            #expect(try await scene.userInfoStatus(access) == 401)

            let changed = try await scene.browser.send(
                "POST", control + "/policy", body: .json(["accessTokenLifetime": 5]))
            #expect(try changed.json().objectValue?["accessTokenLifetime"] == 5)
            let next = try await scene.tokens()
            #expect(next["expires_in"] == 5)
            _ = try await scene.browser.send("POST", control + "/clock", body: .json(["advance": 5]))
            #expect(try await scene.userInfoStatus(next["access_token"]?.stringValue) == 401)

            let before = try await scene.browser.get(scene.provider.issuer + "/jwks").body
            #expect(try await scene.browser.send("DELETE", control + "/keys").status == 204)
            #expect(try await scene.browser.get(scene.provider.issuer + "/jwks").body != before)
            let unknown = try await scene.browser.send(
                "POST", control + "/fault", body: .json(["endpoint": "nowhere", "kind": "drop"]))
            #expect(unknown.status == 400)
        }
    }

    @Test("a stop also ends the requests that hang")
    func stopping() async throws {
        try await withProvider { scene async throws in
            scene.provider.add(Fault(.jwks, .hang))
            let hanging = Task { try await scene.browser.get(scene.provider.issuer + "/jwks") }
            try await eventually("the request hangs") { scene.provider.log.contains { $0.fault == .hang } }
            await scene.provider.stop()
            await #expect(throws: (any Error).self) { try await hanging.value }
        }
    }

    @Test("a flag orders a fault like the control endpoint")
    func order() throws {
        let fault = try Fault(order: "token:status,status=503,retryAfter=2,times=3")
        #expect(fault == Fault(.token, .status, status: 503, retryAfter: 2, times: 3))
        for wrong in ["token", "nowhere:drop", "token:explode", "token:drop,times=often", "token:status,status=x"] {
            #expect(throws: FaultOrderError.self) { try Fault(order: wrong) }
        }
    }
}

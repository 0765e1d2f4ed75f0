import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// glewlwyd's checks of DPoP (RFC 9449), pushed requests (RFC 9126) and registration (RFC 7591).
@Suite("glewlwyd: proofs, pushed requests, registration", .serialized)
struct GlewlwydProofTests {
    @Test("a refresh proves the key, with glewlwyd's nonce if it requires one", arguments: [false, true])
    func proofs(withNonce: Bool) async throws {
        try await withTestBed { bed in
            let scene = try await GlewlwydTests.Scene.make(in: bed)
            try await scene.provider.tune([
                "oauth-dpop-allowed": true, "oauth-dpop-iat-duration": 60,
                "oauth-dpop-nonce-mandatory": .bool(withNonce), "oauth-dpop-nonce-counter": 10,
            ])
            let provider = scene.provider
            let signIn = try await scene.broker.signIn(app: "mail", ["tokenType": "DPoP"], in: bed) {
                try await provider.signIn(.alice, at: $0)
            }
            #expect(signIn.token[path: "tokenType"] == "DPoP")
            let refreshed = try await scene.broker.acquireSilent(
                app: "mail", ["tokenType": "DPoP", "forceRefresh": true])
            #expect(refreshed[path: "tokenType"] == "DPoP")
            #expect(refreshed[path: "accessToken"] != .string(signIn.accessToken))
        }
    }

    @Test("glewlwyd accepts a bound token with the broker's proof once, and for that call only")
    func calls() async throws {
        try await withTestBed { bed in
            let scene = try await GlewlwydTests.Scene.make(in: bed)
            try await scene.provider.tune([
                "oauth-dpop-allowed": true, "oauth-dpop-iat-duration": 60, "oauth-dpop-nonce-mandatory": true,
                "oauth-dpop-nonce-counter": 10,
            ])
            let provider = scene.provider
            let signIn = try await scene.broker.signIn(app: "mail", ["tokenType": "DPoP"], in: bed) {
                try await provider.signIn(.alice, at: $0)
            }
            let (client, url) = (HTTPSession(in: bed), "\(provider.authority)/userinfo")
            let header = signIn.token.text("authorizationHeader")
            #expect(header == "DPoP \(signIn.accessToken)")
            func proof(_ more: JSONObject = [:]) async throws -> String {
                let call: JSONObject = [
                    "app": "mail", "httpMethod": "GET", "url": .string(url),
                    "accessToken": .string(signIn.accessToken),
                ]
                return try await scene.broker.call("token.proof", call.merging(more) { $1 }).text("proof")
            }
            func call(with proof: String?) async throws -> HTTPReply {
                var headers = ["Authorization": header]
                headers["DPoP"] = proof
                return try await client.send("GET", url, headers: headers)
            }
            let wanting = try await call(with: proof())
            #expect(wanting.status == 401)
            let nonce = try #require(wanting.header("dpop-nonce"))

            let good = try await proof(["nonce": .string(nonce)])
            let reply = try await call(with: good)
            #expect(reply.status == 200)
            #expect(try reply.json()["sub"] == signIn.token[path: "account.claims.sub"])
            #expect(try await call(with: good).status == 401)
            let other = try await proof(["nonce": .string(nonce), "httpMethod": "POST"])
            #expect(try await call(with: other).status == 401)
            #expect(try await call(with: nil).status == 401)
            let bearer = try await client.send("GET", url, headers: ["Authorization": "Bearer \(signIn.accessToken)"])
            #expect(bearer.status == 401)
        }
    }

    @Test("proofs with nonce work with a pushed request, a client secret and a device code")
    func together() async throws {
        try await withTestBed { bed in
            let scene = try await GlewlwydTests.Scene.make(in: bed)
            let (provider, broker) = (scene.provider, scene.broker)
            try await provider.tune([
                "oauth-dpop-allowed": true, "oauth-dpop-iat-duration": 60, "oauth-dpop-nonce-mandatory": true,
                "oauth-dpop-nonce-counter": 1,
                "oauth-par-allowed": true, "oauth-par-required": true, "oauth-par-duration": 60,
                "oauth-par-request_uri-prefix": "urn:ietf:params:oauth:request_uri:",
            ])
            try await broker.register(
                "web", clientID: provider.confidentialClientID, authority: provider.authority,
                ["redirectUri": .string(scene.redirectURI), "clientSecret": .string(provider.clientSecret)])
            let bound: JSONObject = ["tokenType": "DPoP"]
            let again = bound.merging(["forceRefresh": true]) { $1 }
            for app in ["mail", "web"] {
                let signIn = try await broker.signIn(app: app, bound, in: bed) {
                    try await provider.signIn(.alice, at: $0, scope: "openid profile offline_access api")
                }
                #expect(signIn.opening.text("url").contains("request_uri=urn"))
                for _ in 1...3 {
                    let token = try await broker.acquireSilent(app: app, again)
                    #expect(token[path: "tokenType"] == "DPoP")
                }
            }

            let connection = try await broker.connect()
            let answer = Task {
                try await connection.call(
                    "token.acquireByDeviceCode", ["app": "mail", "scopes": ["api"], "tokenType": "DPoP"])
            }
            let shown = await connection.nextNotification() ?? [:]
            try await provider.approve(.bob, at: shown.text("params.verificationUriComplete"))
            let token = try await answer.value
            await connection.close()
            #expect(token[path: "tokenType"] == "DPoP")
            #expect(token[path: "account.username"] == "bob")
            let refreshed = try await broker.acquireSilent(
                app: "mail", again.merging(["account": ["username": "bob"]]) { $1 })
            #expect(refreshed[path: "accessToken"] != token[path: "accessToken"])
        }
    }

    @Test("a pushed request is required, and the sign-in continues with its reference")
    func pushed() async throws {
        try await withTestBed { bed in
            let scene = try await GlewlwydTests.Scene.make(in: bed)
            try await scene.provider.tune([
                "oauth-par-allowed": true, "oauth-par-required": true, "oauth-par-duration": 60,
                "oauth-par-request_uri-prefix": "urn:ietf:params:oauth:request_uri:",
            ])
            let provider = scene.provider
            let signIn = try await scene.broker.signIn(app: "mail", in: bed) {
                try await provider.signIn(.alice, at: $0, scope: "openid profile offline_access api")
            }
            #expect(signIn.opening["url"]?.stringValue?.contains("request_uri=urn") == true)
            #expect(signIn.token[path: "account.username"] == "alice")
        }
    }

    @Test("a confidential client is registered without the device grant, and its secret stays in the vault")
    func registered() async throws {
        try await withTestBed { bed in
            let scene = try await GlewlwydTests.Scene.make(in: bed)
            let params: JSONObject = [
                "name": "made", "authority": .string(scene.provider.authority), "confidential": true,
                "redirectUri": .string(scene.redirectURI), "scopes": ["api"],
            ]
            await expectRefusal("unsupported") { try await scene.broker.call("apps.registerAtProvider", params) }
            try await scene.provider.tune([
                "register-client-allowed": true, "register-client-auth-scope": [],
                "register-client-credentials-scope": [],
            ])
            // The cached metadata say that there is no registration.
            let broker = try await BrokerProcess.start(in: bed)
            let answer = try await broker.call("apps.registerAtProvider", params)
            #expect(answer[path: "app.confidential"] == true)
            #expect(answer[path: "app.clientSecret"] == nil && answer[path: "app.client_secret"] == nil)
        }
    }
}

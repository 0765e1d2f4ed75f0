import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// What glewlwyd checks of DPoP (RFC 9449), pushed requests (RFC 9126) and registration (RFC 7591).
@Suite("glewlwyd: proofs, pushed requests, registration", .serialized, .timeLimit(.minutes(3)))
struct GlewlwydProofTests {
    @Test("a refresh proves the key, with glewlwyd's nonce where it wants one", arguments: [false, true])
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

    @Test("a pushed request is demanded, and the sign-in goes on with its reference")
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

    @Test("a confidential client is registered without the device grant, and its secret goes no further than the vault")
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
            // What was read a moment ago says that there is no registration.
            let broker = try await BrokerProcess.start(in: bed)
            let answer = try await broker.call("apps.registerAtProvider", params)
            #expect(answer[path: "app.confidential"] == true)
            #expect("\(answer)".contains("client_secret") == false)
        }
    }
}

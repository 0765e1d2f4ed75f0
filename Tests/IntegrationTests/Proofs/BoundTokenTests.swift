import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

/// The broker's side of DPoP, pushed requests and registration, against the development provider, which checks them.
@Suite("Bound tokens, pushed requests, registration") struct BoundTokenTests {
    private static let bound: JSONObject = ["tokenType": "DPoP"]

    private func signIn(_ scene: DevelopmentScene, app: String = "notes") async throws -> SignIn {
        let (provider, bed) = (scene.provider, scene.bed)
        return try await scene.broker.signIn(app: app, scopes: [DevelopmentScene.scope], Self.bound, in: bed) {
            try await provider.signIn(.alice, at: $0, in: bed)
        }
    }

    @Test("a provider that requires proofs with its nonce issues bound tokens, also silently after a restart")
    func nonce() async throws {
        try await withTestBed { bed in
            var scene = try await DevelopmentScene.make(in: bed) {
                $0.requiresProof = true
                $0.requiresProofNonce = true
            }
            let signIn = try await signIn(scene)
            #expect(signIn.token[path: "tokenType"] == "DPoP")
            #expect(signIn.token[path: "authorizationHeader"] == .string("DPoP \(signIn.accessToken)"))
            try await scene.restart()
            let forced = Self.bound.merging(["forceRefresh": true]) { $1 }
            let token = try await scene.silent(forced)
            #expect(token[path: "tokenType"] == "DPoP")
            #expect(token[path: "accessToken"] != .string(signIn.accessToken))
            #expect(try await scene.silent(Self.bound)[path: "fromCache"] == true)
            await expectRefusal("interactionRequired", reason: "noTokens") { try await scene.silent() }
        }
    }

    @Test("a proof is made for one call and the current token, with a constant key")
    func proof() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            _ = try await signIn(scene)
            let call: JSONObject = [
                "app": "notes", "httpMethod": "GET", "url": "https://api.example/notes?x=1", "nonce": "n-1",
            ]
            let first = try await scene.broker.call("token.proof", call)
            let second = try await scene.broker.call("token.proof", call)
            #expect(first["proof"] != second["proof"])
            #expect(first["keyThumbprint"] == second["keyThumbprint"])
            let claims = try claims(of: first["proof"]?.stringValue)
            #expect(claims["htu"] == "https://api.example/notes")
            #expect(claims["htm"] == "GET")
            #expect(claims["nonce"] == "n-1")
            #expect(claims["ath"]?.stringValue?.count == 43)
            await expectRefusal("accountNotFound") {
                try await scene.broker.call("token.proof", call.merging(["account": ["username": "nobody"]]) { $1 })
            }
        }
    }

    @Test("an API accepts the token with its proof, and neither without the other")
    func call() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let token = try await signIn(scene).token
            let url = "\(scene.provider.issuer)/userinfo"
            let answer = try await scene.broker.call(
                "token.proof",
                [
                    "app": "notes", "httpMethod": "GET", "url": .string(url),
                    "accessToken": .string(token.text("accessToken")),
                ])
            let http = HTTPSession(in: bed)
            let authorization = token.text("authorizationHeader")
            let alone = try await http.send("GET", url, headers: ["Authorization": authorization])
            #expect(alone.status == 401)
            let asBearer = try await http.send(
                "GET", url, headers: ["Authorization": "Bearer \(token.text("accessToken"))"])
            #expect(asBearer.status == 401)
            let together = try await http.send(
                "GET", url, headers: ["Authorization": authorization, "DPoP": answer.text("proof")])
            #expect(together.status == 200, "\(together.text)")
            let again = try await http.send(
                "GET", url, headers: ["Authorization": authorization, "DPoP": answer.text("proof")])
            #expect(again.status == 401)
        }
    }

    @Test("a provider that requires pushed requests gets one, and the browser's URL contains nothing of it")
    func pushed() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed) { $0.requiresPushedAuthorization = true }
            let signIn = try await scene.signIn()
            let url = signIn.opening["url"]?.stringValue ?? ""
            #expect(Set(URLComponents(string: url)?.queryItems?.map(\.name) ?? []) == ["client_id", "request_uri"])
            #expect(signIn.token[path: "account.username"] == "alice")
        }
    }

    @Test("an app that the broker registered at the provider can sign in", arguments: [false, true])
    func registered(confidential: Bool) async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let answer = try await scene.broker.call(
                "apps.registerAtProvider",
                [
                    "name": "made", "authority": .string(scene.provider.issuer), "scopes": ["notes.read"],
                    "confidential": .bool(confidential),
                ])
            #expect(answer[path: "app.confidential"] == .bool(confidential))
            #expect(answer[path: "app.clientId"].stringValue?.isEmpty == false)
            let signIn = try await scene.signIn(app: "made")
            #expect(signIn.token[path: "account.username"] == "alice")
            _ = try await scene.silent(app: "made", ["forceRefresh": true])
        }
    }
}

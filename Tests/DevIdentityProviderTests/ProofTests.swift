import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Testing

@Suite("Tokens that the development provider binds to a key (RFC 9449)")
struct ProofTests {
    private let maker: ProofMaker

    init() throws { maker = try ProofMaker() }

    private func redeem(
        _ scene: ProviderScene, proof: String?, _ more: [String: String] = ProviderScene.everything
    ) async throws -> HTTPReply {
        let redirect = try await scene.visit(more)
        let fields = [
            "grant_type": "authorization_code", "client_id": "demo-one", "code": redirect["code"] ?? "",
            "redirect_uri": scene.client.redirectURI, "code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
        ]
        return try await scene.ask("/token", fields, headers: proof.map { ["DPoP": $0] } ?? [:])
    }

    private func userInfo(_ scene: ProviderScene, scheme: String, token: String, proof: String?) async throws
        -> HTTPReply
    {
        var headers = ["Authorization": "\(scheme) \(token)"]
        headers["DPoP"] = proof
        return try await scene.browser.send("GET", scene.provider.issuer + "/userinfo", headers: headers)
    }

    @Test(
        "like at Google, a proof binds the refresh token, but the access token is a bearer token"
    )
    func refreshTokenOnly() async throws {
        try await withProvider({ $0.policy.bindsRefreshTokensOnly = true }) { scene async throws in
            let tokenURL = scene.provider.issuer + "/token"
            let reply = try await redeem(scene, proof: try maker.proof("POST", tokenURL))
            let answer = try #require(try reply.json().objectValue)
            #expect(answer["token_type"] == "Bearer")
            let access = answer["access_token"]?.stringValue ?? ""
            #expect(try await userInfo(scene, scheme: "Bearer", token: access, proof: nil).status == 200)
            let refresh = answer["refresh_token"]?.stringValue
            #expect(try await scene.refresh(refresh).oauthError == "invalid_grant")
            let fields = ["grant_type": "refresh_token", "client_id": "demo-one", "refresh_token": refresh ?? ""]
            let own = try maker.proof("POST", tokenURL)
            let refreshed = try await scene.ask("/token", fields, headers: ["DPoP": own])
            #expect(refreshed.status == 200)
            #expect(try refreshed.json().objectValue?["token_type"] == "Bearer")
        }
    }

    @Test("a proof binds both tokens, and neither works without another proof by the same key")
    func binding() async throws {
        try await withProvider({ $0.accessTokenFormat = .jwt }) { scene async throws in
            let tokenURL = scene.provider.issuer + "/token"
            let infoURL = scene.provider.issuer + "/userinfo"
            let reply = try await redeem(scene, proof: try maker.proof("POST", tokenURL))
            let answer = try #require(try reply.json().objectValue)
            #expect(answer["token_type"] == "DPoP")
            let access = try #require(answer["access_token"]?.stringValue)
            let cnf = try claims(of: access)["cnf"]?.objectValue
            #expect(cnf?["jkt"]?.stringValue == maker.thumbprint)

            let proof = try maker.proof("GET", infoURL, accessToken: access)
            #expect(try await userInfo(scene, scheme: "DPoP", token: access, proof: proof).status == 200)
            let replayed = try await userInfo(scene, scheme: "DPoP", token: access, proof: proof)
            #expect(replayed.oauthError == "invalid_dpop_proof")
            #expect(try await userInfo(scene, scheme: "Bearer", token: access, proof: nil).status == 401)
            let stranger = try ProofMaker().proof("GET", infoURL, accessToken: access)
            #expect(try await userInfo(scene, scheme: "DPoP", token: access, proof: stranger).status == 401)
            let hashless = try maker.proof("GET", infoURL)
            let refused = try await userInfo(scene, scheme: "DPoP", token: access, proof: hashless)
            #expect(refused.header("www-authenticate")?.hasPrefix("DPoP error=\"invalid_dpop_proof\"") == true)

            let refresh = answer["refresh_token"]?.stringValue
            #expect(try await scene.refresh(refresh).oauthError == "invalid_grant")
            let fields = ["grant_type": "refresh_token", "client_id": "demo-one", "refresh_token": refresh ?? ""]
            let other = try ProofMaker().proof("POST", tokenURL)
            #expect(try await scene.ask("/token", fields, headers: ["DPoP": other]).oauthError == "invalid_grant")
            let own = try maker.proof("POST", tokenURL)
            #expect(try await scene.ask("/token", fields, headers: ["DPoP": own]).status == 200)
        }
    }

    @Test("a bearer token stays one, even if its holder has a key")
    func bearer() async throws {
        try await withProvider { scene async throws in
            let access = try #require(try await scene.tokens()["access_token"]?.stringValue)
            let proof = try maker.proof("GET", scene.provider.issuer + "/userinfo", accessToken: access)
            #expect(
                try await userInfo(scene, scheme: "DPoP", token: access, proof: proof).oauthError == "invalid_token")
            #expect(try await scene.userInfoStatus(access) == 200)
        }
    }

    @Test("a proof for another request, time, or form is refused, and the code is not consumed")
    func faulty() async throws {
        try await withProvider { scene async throws in
            let url = scene.provider.issuer + "/token"
            let proofs = [
                try maker.proof("GET", url), try maker.proof("POST", url + "s"),
                try maker.proof("POST", url, change: ["iat": 1_000_000]),
                try maker.proof("POST", url, header: ["typ": "JWT"]),
                try maker.proof("POST", url, header: ["alg": "none"]),
                try String(maker.proof("POST", url).dropLast(4)), "nonsense",
            ]
            let redirect = try await scene.visit(ProviderScene.everything)
            let fields = [
                "grant_type": "authorization_code", "client_id": "demo-one", "code": redirect["code"] ?? "",
                "redirect_uri": scene.client.redirectURI,
                "code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
            ]
            for proof in proofs {
                let reply = try await scene.ask("/token", fields, headers: ["DPoP": proof])
                #expect(reply.oauthError == "invalid_dpop_proof")
            }
            #expect(try await scene.ask("/token", fields).status == 200)
        }
    }

    @Test("if a nonce is required, a proof without it gets the nonce, and the next one works")
    func nonce() async throws {
        try await withProvider({ $0.policy.requiresProofNonce = true }) { scene async throws in
            let url = scene.provider.issuer + "/token"
            let refused = try await redeem(scene, proof: try maker.proof("POST", url))
            #expect(refused.status == 400)
            #expect(refused.oauthError == "use_dpop_nonce")
            let nonce = try #require(refused.header("dpop-nonce"))
            let wrong = try await redeem(scene, proof: try maker.proof("POST", url, nonce: "made-up"))
            #expect(wrong.oauthError == "use_dpop_nonce")
            let reply = try await redeem(scene, proof: try maker.proof("POST", url, nonce: nonce))
            #expect(try reply.json().objectValue?["token_type"] == "DPoP")
            #expect(reply.header("dpop-nonce") == nonce)
        }
    }

    @Test("dpop_jkt binds the code to a key, and proofs can be required of all clients")
    func boundCode() async throws {
        try await withProvider { scene async throws in
            let bound = ProviderScene.everything.merging(["dpop_jkt": maker.thumbprint]) { $1 }
            let url = scene.provider.issuer + "/token"
            #expect(try await redeem(scene, proof: nil, bound).oauthError == "invalid_grant")
            let other = try ProofMaker().proof("POST", url)
            #expect(try await redeem(scene, proof: other, bound).oauthError == "invalid_grant")
            #expect(try await redeem(scene, proof: try maker.proof("POST", url), bound).status == 200)
            scene.provider.setPolicy { $0.requiresProof = true }
            #expect(try await redeem(scene, proof: nil).oauthError == "invalid_dpop_proof")
        }
    }
}

import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("UserInfo (OpenID Connect Core, section 5.3)")
struct UserInfoTests {
    private func ask(_ bed: ProviderBed) async throws -> UserInfo {
        try await bed.oauth.userInfo(with: Secret("at-1"), .bearer, provenBy: nil, at: bed.metadata())
    }

    @Test("the token is sent in the header, and the person's claims are returned")
    func claims() async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.userinfo) { _ in .json(["sub": "alice", "name": "Alice"]) }
            let told = try await ask(bed)
            #expect(told == UserInfo(subject: "alice", claims: ["sub": "alice", "name": "Alice"]))
            let request = try #require(bed.provider.requests(to: .userinfo).first)
            #expect(request.headers["authorization"] == "Bearer at-1")
            #expect(request.method == "GET")
        }
    }

    @Test("a response without a subject, with two, or in another form is refused")
    func noAnswer() async throws {
        try await withProvider { bed async throws in
            for answer in [
                .json(["name": "Alice"]), .json(["sub": ""]), .html("Alice"),
                ProviderAnswer(status: 200, body: Array(#"{"sub":"alice","sub":"bob"}"#.utf8)),
            ] as [ProviderAnswer] {
                bed.provider.on(.userinfo) { _ in answer }
                #expect(await bed.failure { try await ask(bed) }?.isInvalidResponse == true)
            }
            bed.provider.on(.userinfo) { _ in .oauthError("invalid_token", status: 401) }
            #expect(await bed.refusal { try await ask(bed) }?.error == "invalid_token")
        }
    }

    @Test("a bound token is sent with a proof for this URL and this token, and with a separate nonce")
    func bound() async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.userinfo) { request in
                let proof = try? ReadProof(request.headers["dpop"] ?? "")
                if proof?.claims["nonce"] == "n-1" { return .json(["sub": "alice"]) }
                return .empty(
                    401, headers: [("WWW-Authenticate", #"DPoP error="use_dpop_nonce""#), ("DPoP-Nonce", "n-1")])
            }
            let key = ES256ProofSigner(random: CountingRandom()).makeKey()
            let told = try await bed.oauth.userInfo(
                with: Secret("at-1"), .dpop, provenBy: key, at: bed.metadata())
            #expect(told.subject == "alice")
            let request = try #require(bed.provider.requests(to: .userinfo).last)
            #expect(request.headers["authorization"] == "DPoP at-1")
            let proof = try ReadProof(request.headers["dpop"] ?? "")
            #expect(proof.claims["htm"] == "GET")
            #expect(proof.claims["ath"] != nil)
        }
    }

    @Test("an endpoint on another host does not get the token, unless the administrator names it")
    func elsewhere() async throws {
        try await withProvider { bed async throws in
            let elsewhere = "https://else.example/userinfo"
            bed.provider.configure {
                $0.metadata = [
                    "userinfo_endpoint": .string(elsewhere), "authorization_response_iss_parameter_supported": true,
                ]
            }
            #expect(try await bed.metadata().userinfoEndpoint == nil)
            #expect(await bed.failure { try await ask(bed) }?.isNotOffered == true)
            var completion = MetadataOverride()
            completion.endpoints = ["userinfo_endpoint": elsewhere]
            bed.oauth.apply(MetadataOverrides([try bed.provider.authority.url: completion]))
            #expect(try await bed.metadata().userinfoEndpoint == elsewhere)
        }
    }
}

import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Discovery by kind")
struct KindDiscoveryTests {
    private static let tenant = "aaaabbbb-0000-cccc-1111-dddd2222eeee"

    private func authority(_ bed: ProviderBed, _ path: String, _ kind: ProviderKind) throws -> Authority {
        try Authority(
            parsing: bed.provider.issuer + path, allowHTTPLoopback: true,
            kinds: ["127.0.0.1:\(bed.provider.port)": kind])
    }

    private func publish(_ bed: ProviderBed, at path: String, issuer: String) {
        bed.provider.on(path: path) { _ in
            .json(.object(bed.provider.discoveryDocument.merging(["issuer": .string(issuer)]) { $1 }))
        }
    }

    @Test("Entra: the document is at the tenant's v2.0, and a token must come from its own tenant")
    func entra() async throws {
        try await withProvider { bed async throws in
            let base = bed.provider.issuer
            publish(bed, at: "/common/v2.0/.well-known/openid-configuration", issuer: base + "/{tenantid}/v2.0")
            let metadata = try await bed.oauth.metadata(of: try authority(bed, "/common/v2.0", .entra))
            #expect(metadata.authority.url == base + "/common")

            func verify(_ changes: JSONObject) async throws -> IDTokenClaims {
                let claims = bed.goodClaims.merging(changes) { $1 }
                return try await bed.oauth.verify(
                    idToken: Secret(bed.provider.identity.sign(claims)),
                    against: .init(clientID: "app", nonce: "n-1"), at: metadata)
            }
            let own = "\(base)/\(Self.tenant)/v2.0"
            let claims = try await verify(["iss": .string(own), "tid": .string(Self.tenant)])
            #expect(claims.issuer == ExactText(own))
            for wrong: JSONObject in [
                ["iss": .string(own)], ["iss": .string(own), "tid": "somebody-else"],
                ["iss": .string(base + "/{tenantid}/v2.0"), "tid": .string(Self.tenant)],
                ["tid": .string(Self.tenant)],
            ] {
                #expect(await bed.failure { try await verify(wrong) }?.isInvalidResponse == true, "\(wrong)")
            }
        }
    }

    @Test("Entra: a key published for one tenant does not verify tokens of another")
    func keysOfTenants() async throws {
        try await withProvider { bed async throws in
            let base = bed.provider.issuer
            publish(bed, at: "/common/v2.0/.well-known/openid-configuration", issuer: base + "/{tenantid}/v2.0")
            let metadata = try await bed.oauth.metadata(of: try authority(bed, "/common", .entra))
            let own = "\(base)/\(Self.tenant)/v2.0"
            let claims = bed.goodClaims.merging(["iss": .string(own), "tid": .string(Self.tenant)]) { $1 }
            for (owner, isGood) in [
                (.null, true), (.string(own), true), (.string(base + "/{tenantid}/v2.0"), true),
                (.string(base + "/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0"), false),
                (.string("https://login.example/{tenantid}/v2.0"), false),
            ] as [(JSONValue, Bool)] {
                let key = bed.provider.identity.jwk.merging(["issuer": owner]) { $1 }.filter { $0.value != .null }
                bed.provider.on(.keys) { _ in .json(["keys": [.object(key)]]) }
                bed.clock.advance(bySeconds: 3600)
                let token = bed.provider.identity.sign(
                    claims.merging(["iat": .integer(bed.clock.now), "exp": .integer(bed.clock.now + 600)]) { $1 })
                let failure = await bed.failure {
                    try await bed.oauth.verify(
                        idToken: Secret(token), against: .init(clientID: "app", nonce: "n-1"), at: metadata)
                }
                #expect((failure == nil) == isGood, "\(owner)")
            }
        }
    }

    @Test("Entra: there is no fallback document")
    func noFallback() async throws {
        try await withProvider { bed async throws in
            let authority = try authority(bed, "/common", .entra)
            let failure = await bed.failure { try await bed.oauth.metadata(of: authority) }
            #expect(failure?.withoutText == .invalidResponse(status: 404, ""))
            #expect(bed.provider.requests.map(\.path) == ["/common/v2.0/.well-known/openid-configuration"])
        }
    }

    @Test("ADFS: the document is below /adfs and names its own host")
    func adfs() async throws {
        try await withProvider { bed async throws in
            publish(bed, at: "/adfs/.well-known/openid-configuration", issuer: bed.provider.issuer + "/adfs")
            let metadata = try await bed.oauth.metadata(of: try authority(bed, "/adfs", .adfs))
            #expect(metadata.issuer == bed.provider.issuer + "/adfs")
        }
    }

    @Test("B2C: each policy has a document of its own")
    func b2c() async throws {
        try await withProvider { bed async throws in
            let issuer = bed.provider.issuer + "/\(Self.tenant)/v2.0/"
            publish(bed, at: "/tfp/contoso/b2c_1_in/v2.0/.well-known/openid-configuration", issuer: issuer)
            let metadata = try await bed.oauth.metadata(of: try authority(bed, "/tfp/Contoso/B2C_1_in", .b2c))
            #expect(metadata.issuer == issuer)
        }
    }

    @Test("endpoints that a document lacks, or names wrongly, come from the configuration")
    func completed() async throws {
        try await withProvider { bed async throws in
            let base = bed.provider.issuer
            bed.provider.configure { $0.metadata = ["token_endpoint": nil, "jwks_uri": "ftp://x"] }
            var completion = MetadataOverride()
            completion.endpoints = [
                "token_endpoint": base + "/t", "jwks_uri": base + "/k",
                "device_authorization_endpoint": base + "/d",
            ]
            completion.resourceParameter = "audience"
            let oauth = OAuthProvider(
                http: bed.http, clock: bed.clock, proofs: testProofSigner(),
                completions: MetadataOverrides([base: completion]))
            let metadata = try await oauth.metadata(of: bed.provider.authority)
            #expect(metadata.tokenEndpoint == base + "/t")
            #expect(metadata.jwksURI == base + "/k")
            #expect(metadata.deviceAuthorizationEndpoint == base + "/d")
            #expect(metadata.authorizationEndpoint == base + "/authorize")
            #expect(metadata.resourceParameter == "audience")
        }
    }

    @Test("a changed configuration completes a cached document without a new request")
    func completedAnew() async throws {
        try await withProvider { bed async throws in
            let authority = try bed.provider.authority
            #expect(try await bed.oauth.metadata(of: authority).resourceParameter == "resource")
            var completion = MetadataOverride()
            completion.resourceParameter = "audience"
            bed.oauth.apply(MetadataOverrides([authority.url: completion]))
            bed.provider.on(.discovery) { _ in .empty(500) }
            #expect(try await bed.oauth.metadata(of: authority).resourceParameter == "audience")
            bed.oauth.apply(MetadataOverrides())
            #expect(try await bed.oauth.metadata(of: authority).resourceParameter == "resource")
        }
    }

    @Test("a provider without any document is known from the configuration alone")
    func configuredWhole() async throws {
        try await withProvider { bed async throws in
            let base = bed.provider.issuer
            bed.provider.on(.discovery) { _ in .empty(404) }
            var completion = MetadataOverride()
            completion.endpoints = ["token_endpoint": base + "/t", "authorization_endpoint": base + "/a"]
            func metadata() async throws -> ProviderMetadata {
                let oauth = OAuthProvider(
                    http: bed.http, clock: bed.clock, proofs: testProofSigner(),
                    completions: MetadataOverrides([base: completion]))
                return try await oauth.metadata(of: bed.provider.authority)
            }
            #expect(await bed.failure { try await metadata() }?.withoutText == .invalidResponse(status: 404, ""))
            completion.endpoints["jwks_uri"] = base + "/k"
            #expect(try await metadata().issuer == base)
            #expect(try await metadata().tokenEndpoint == base + "/t")
        }
    }
}

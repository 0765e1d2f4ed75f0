import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Testing

/// A host with two owners: the hostile issuer names an endpoint of the honest one next to a token endpoint of its own.
@Suite("Issuers that share a host")
struct NeighborIssuerTests {
    /// The metadata of the issuer at `/t/evil`; paths of the same host.
    private func metadata(_ endpoints: [String: String], in bed: ProviderBed) async throws -> ProviderMetadata {
        let host = bed.provider.issuer
        let named = ["jwks_uri": "/t/evil/keys"].merging(endpoints) { $1 }.mapValues { JSONValue.string(host + $0) }
        let document = named.merging(["issuer": .string(host + "/t/evil")]) { $1 }
        bed.provider.on(path: "/t/evil/.well-known/openid-configuration") { _ in .json(.object(document)) }
        bed.clock.advance(bySeconds: 4000)
        return try await bed.oauth.metadata(of: Authority(parsing: host + "/t/evil", allowHTTPLoopback: true))
    }

    @Test(
        "an endpoint of another issuer is refused, in any spelling of its path",
        arguments: [
            "/t/good/authorize", "/t/evilgood/authorize", "/authorize", "/t/evil/../good/authorize",
            "/t/evil/%2e%2e/good/authorize", "/t/evil/..;/good/authorize", "/t/evil/.%2E/good",
            "/t/evil%2f..%2fgood/authorize",
        ])
    func refused(path: String) async throws {
        try await withProvider { bed async throws in
            for (authorization, token) in [(path, "/t/evil/token"), ("/t/evil/authorize", path)] {
                let failure = await bed.failure {
                    try await metadata(["authorization_endpoint": authorization, "token_endpoint": token], in: bed)
                }
                let (status, text) = try #require(failure?.violation)
                #expect(status == nil)
                #expect(text.contains("name it in the provider's table"))
            }
        }
    }

    @Test(
        "endpoints below the issuer's path are accepted, and so are those of a folder for all issuers",
        arguments: [
            ("/t/evil/authorize", "/t/evil/token"), ("/t/evil/v1/authorize", "/t/evil/v2/token"),
            ("/oauth/authorize/", "/oauth/token/"), ("/t/authorize", "/t/token"),
        ])
    func taken(authorization: String, token: String) async throws {
        try await withProvider { bed async throws in
            let found = try await metadata(
                ["authorization_endpoint": authorization, "token_endpoint": token], in: bed)
            #expect(found.tokenEndpoint == bed.provider.issuer + token)
        }
    }

    @Test("a device code, a registration and a person's claims are not requested from another issuer")
    func others() async throws {
        try await withProvider { bed async throws in
            let own = ["authorization_endpoint": "/t/evil/authorize", "token_endpoint": "/t/evil/token"]
            func found(at folder: String) async throws -> [String?] {
                let found = try await metadata(
                    own.merging([
                        "device_authorization_endpoint": folder + "/device",
                        "registration_endpoint": folder + "/register",
                        "userinfo_endpoint": folder + "/userinfo",
                    ]) { $1 }, in: bed)
                return [found.deviceAuthorizationEndpoint, found.registrationEndpoint, found.userinfoEndpoint]
            }
            #expect(try await found(at: "/t/good") == [nil, nil, nil])
            #expect(try await found(at: "/t/evil").allSatisfy { $0 != nil })
        }
    }

    @Test("a document that an issuer names at its neighbor's address does not become the neighbor's")
    func documents() async throws {
        try await withProvider { bed async throws in
            let keys = bed.provider.issuer + "/jwks"
            let metadata = try await metadata(
                [
                    "authorization_endpoint": "/t/evil/authorize", "token_endpoint": "/t/evil/token",
                    "jwks_uri": "/jwks",
                ], in: bed)
            #expect(metadata.jwksURI == keys)
            let token = Secret(bed.provider.identity.sign(bed.goodClaims))
            _ = await bed.failure {
                try await bed.oauth.verify(idToken: token, against: .init(clientID: "app", nonce: "n-1"), at: metadata)
            }
            #expect(bed.provider.requests(to: .keys).count == 1)
            let own = try await bed.metadata()
            _ = try await bed.oauth.verify(idToken: token, against: .init(clientID: "app", nonce: "n-1"), at: own)
            #expect(bed.provider.requests(to: .keys).count == 2)
        }
    }
}

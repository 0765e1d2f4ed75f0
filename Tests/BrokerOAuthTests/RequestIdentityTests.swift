import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Identification of requests at Entra")
struct RequestIdentityTests {
    private static let names = [
        "client-request-id", "return-client-request-id", "x-ms-lib-capability", "x-anchormailbox",
    ]

    private func headers(of kind: ProviderKind, tenant: String) async throws -> [String?] {
        var headers: [String?] = []
        try await withProvider { bed async throws in
            var extras = TokenRequestExtras()
            extras.correlationID = "correlation-1"
            extras.home = HomeAccountID(userID: "uid", tenantID: "utid")
            var metadata = try await bed.metadata()
            let host = metadata.authority.environment
            let authority = try Authority(
                parsing: metadata.authority.url + tenant, allowHTTPLoopback: true, kinds: [host: kind])
            metadata = ProviderMetadata(
                authority: authority, issuer: metadata.issuer, authorizationEndpoint: metadata.authorizationEndpoint,
                tokenEndpoint: metadata.tokenEndpoint, jwksURI: metadata.jwksURI)
            _ = try? await bed.oauth.redeem(
                .refreshToken(Secret("rt"), scopes: Scopes(["a"])), with: extras, as: .init(clientID: "app"),
                at: metadata)
            let sent = try #require(bed.provider.requests(to: .token).last).headers
            headers = Self.names.map { sent[$0] }
        }
        return headers
    }

    @Test("a request to Entra has its correlation id, its home and the client's capabilities")
    func entra() async throws {
        #expect(
            try await headers(of: .entra, tenant: "/common") == [
                "correlation-1", "true", "retry-after, h429", "Oid:uid@utid",
            ])
    }

    @Test("a request to any other provider has none of these headers")
    func generic() async throws {
        #expect(try await headers(of: .generic, tenant: "") == [nil, nil, nil, nil])
    }
}

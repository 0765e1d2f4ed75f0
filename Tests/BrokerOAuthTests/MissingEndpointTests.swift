import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Testing

/// Web frameworks answer a request to an address that they do not know in JSON with a member `error`.
@Suite("A token endpoint that is not there")
struct MissingEndpointTests {
    private static let frameworkBodies: [JSONObject] = [
        ["status": 404, "error": "Not Found", "path": "/token"],
        ["statusCode": 404, "message": "Cannot POST /token", "error": "Not Found"],
        ["error": "not_found"],
        ["error": ["code": 404, "status": "NOT_FOUND", "message": "gone"]],
    ]

    private let poll = TokenGrant.deviceCode(Secret("device-code"))

    @Test("a framework's description of the status is no refusal", arguments: [404, 405, 410])
    func frameworks(status: Int) async throws {
        try await withProvider { bed async throws in
            for body in Self.frameworkBodies {
                let answer = ProviderAnswer.json(.object(body), status: status)
                let refused = ProviderError.invalidResponse(status: status, "")
                #expect(try await bed.refreshFailure(answer)?.withoutText == refused, "\(body)")
                #expect(await bed.failure { try await bed.redeem(poll) }?.withoutText == refused, "\(body)")
            }
        }
    }

    @Test("the standard's own codes count with these statuses, too", arguments: [404, 405, 410])
    func standardCodes(status: Int) async throws {
        try await withProvider { bed async throws in
            for code in ["invalid_grant", "invalid_client", "expired_token", "authorization_pending"] {
                let failure = try await bed.refreshFailure(.oauthError(code, status: status))
                #expect(failure == .refused(OAuthRefusal(error: code, status: status)))
            }
        }
    }

    @Test("other codes count with the statuses that OAuth uses", arguments: [400, 401, 403])
    func otherStatuses(status: Int) async throws {
        try await withProvider { bed async throws in
            let failure = try await bed.refreshFailure(.oauthError("not_found", status: status))
            #expect(failure == .refused(OAuthRefusal(error: "not_found", status: status)))
        }
    }

    @Test("a moved endpoint is found although a framework describes the status of the old one", arguments: [404, 410])
    func moved(status: Int) async throws {
        try await withProvider { bed async throws in
            let renewed = bed.provider.discoveryDocument
            var old = renewed
            old["token_endpoint"] = .string(bed.provider.issuer + "/gone")
            let document = old
            bed.provider.on(.discovery) { _ in .json(.object(document)) }
            let metadata = try await bed.metadata()
            bed.provider.on(.discovery) { _ in .json(.object(renewed)) }
            bed.provider.on(path: "/gone") { _ in .json(["error": "Not Found"], status: status) }
            bed.provider.on(.token) { _ in .json(["access_token": "at", "token_type": "Bearer"]) }
            let response = try await bed.oauth.redeem(
                .refreshToken(Secret("rt"), scopes: Scopes(["mail"])), with: TokenRequestExtras(),
                as: .init(clientID: "app"), at: metadata)
            #expect(response.accessToken == Secret("at"))
        }
    }
}

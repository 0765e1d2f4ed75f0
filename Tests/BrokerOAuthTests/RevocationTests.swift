import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Revocation (RFC 7009) and logout")
struct RevocationTests {
    @Test("a revocation has the token, its kind and the client, and 200 means success with any body")
    func done() async throws {
        try await withProvider { bed async throws in
            bed.offerEverything()
            bed.answer(at: .revocation, .html("gone"))
            try await bed.oauth.revoke(
                Secret("rt+1"), .refreshToken, as: .init(clientID: "app"), at: bed.metadata())
            let form = try #require(bed.requests(to: .revocation).first).form
            #expect(form == ["token": "rt+1", "token_type_hint": "refresh_token", "client_id": "app"])
        }
    }

    @Test("a confidential client authenticates, a refusal keeps its code, and a busy provider is reported")
    func refused() async throws {
        try await withProvider { bed async throws in
            bed.offerEverything()
            let client = ClientCredentials(clientID: "app", secret: Secret("s"))
            func revoke() async throws {
                try await bed.oauth.revoke(Secret("at"), .accessToken, as: client, at: bed.metadata())
            }
            bed.answer(at: .revocation, .oauthError("unsupported_token_type"))
            #expect(await bed.refusal(revoke)?.error == "unsupported_token_type")
            #expect(bed.requests(to: .revocation).last?.basicCredentials?.secret == "s")
            bed.answer(at: .revocation, .empty(503, headers: [("Retry-After", "9")]))
            #expect(await bed.failure(revoke)?.withoutText == .unavailable(status: 503, retryAfter: 9, ""))
            bed.answer(at: .revocation, .empty(404))
            #expect(await bed.failure(revoke)?.isInvalidResponse == true)
        }
    }

    @Test("a provider without an endpoint does not support revocation")
    func notOffered() async throws {
        try await withProvider { bed async throws in
            let failure = await bed.failure {
                try await bed.oauth.revoke(Secret("rt"), .refreshToken, as: .init(clientID: "app"), at: bed.metadata())
            }
            #expect(failure?.isNotOffered == true)
        }
    }

    @Test("the logout URL has the hints, the redirect URI and the state")
    func endSession() async throws {
        try await withProvider { bed async throws in
            var request = EndSessionRequest(clientID: "app")
            #expect(bed.oauth.endSessionURL(request, at: try await bed.metadata()) == nil)
            bed.provider.configure { $0.metadata["end_session_endpoint"] = "https://idp.example/logout?x=1" }
            bed.clock.advance(bySeconds: 3600)
            let metadata = try await bed.metadata()
            request.state = "s"
            #expect(
                bed.oauth.endSessionURL(request, at: metadata) == "https://idp.example/logout?x=1&client_id=app")
            request.idTokenHint = Secret("a.b.c")
            request.logoutHint = "alice&bob"
            request.postLogoutRedirectURI = "http://127.0.0.1/out"
            #expect(
                bed.oauth.endSessionURL(request, at: metadata)
                    == "https://idp.example/logout?x=1&id_token_hint=a.b.c&logout_hint=alice%26bob&client_id=app"
                    + "&post_logout_redirect_uri=http%3A%2F%2F127.0.0.1%2Fout&state=s")
            request.parameters = ["ui_locales": "de", "a": "b&c"]
            #expect(
                bed.oauth.endSessionURL(request, at: metadata)?.hasSuffix("&state=s&a=b%26c&ui_locales=de") == true)
            request.parameters = [:]
            request.idTokenHint = Secret(String(repeating: "a", count: 125_000))
            #expect(bed.oauth.endSessionURL(request, at: metadata)?.contains("x=1&logout_hint=alice%26bob") == true)
        }
    }
}

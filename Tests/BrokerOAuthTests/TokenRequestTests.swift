import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Testing

extension ProviderBed {
    func redeem(
        _ grant: TokenGrant, claims: String? = nil, as client: ClientCredentials = .init(clientID: "app")
    ) async throws -> TokenResponse {
        var extras = TokenRequestExtras()
        extras.claims = claims
        return try await oauth.redeem(grant, with: extras, as: client, at: metadata())
    }
}

@Suite("Token requests")
struct TokenRequestTests {
    @Test("a code is redeemed with its verifier, and the ID token in the response is valid")
    func code() async throws {
        try await withProvider { bed async throws in
            let response = try await bed.redeem(bed.code())
            #expect(response.tokenType == .bearer)
            #expect(response.expiresIn == 3600)
            #expect(response.scope == "openid profile offline_access")
            let idToken = try #require(response.idToken)
            let claims = try await bed.verify(idToken.revealed())
            #expect(claims["preferred_username"] == "alice")

            let form = try #require(bed.provider.requests(to: .token).first).form
            #expect(form["grant_type"] == "authorization_code")
            #expect(form["client_id"] == "app")
            #expect(form["client_secret"] == nil)
        }
    }

    @Test("a wrong verifier is refused by the provider")
    func wrongVerifier() async throws {
        try await withProvider { bed async throws in
            guard case .authorizationCode(let code, _, let redirectURI) = bed.code() else { return }
            let failure = await bed.failure {
                try await bed.redeem(
                    .authorizationCode(code, verifier: Secret("other"), redirectURI: redirectURI))
            }
            #expect(failure == .refused(OAuthRefusal(error: "invalid_grant", status: 400)))
        }
    }

    @Test("a refresh rotates the token, and reuse ends the chain")
    func refresh() async throws {
        try await withProvider { bed async throws in
            let first = try #require(try await bed.redeem(bed.code()).refreshToken)
            func refresh(_ token: Secret) async throws -> TokenResponse {
                try await bed.redeem(
                    .refreshToken(token, scopes: Scopes(["openid", "a b+c"])), claims: #"{"x":1}"#)
            }
            let second = try #require(try await refresh(first).refreshToken)
            #expect(first != second)
            let form = try #require(bed.provider.requests(to: .token).last).form
            #expect(form["scope"] == "openid a b+c")
            #expect(form["claims"] == #"{"x":1}"#)
            #expect(form["grant_type"] == "refresh_token")
            for dead in [first, second] {
                let refusal = try #require(await bed.refusal { try await refresh(dead) })
                #expect(refusal.error == "invalid_grant")
            }
        }
    }

    @Test("each resource is a separate parameter, with the provider's name for it")
    func resources() async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.token) { _ in .json(["access_token": "at", "token_type": "bearer"]) }
            var extras = TokenRequestExtras()
            extras.resources = ["https://a.example/", "https://b.example/"]
            extras.asksClientInfo = true
            var metadata = try await bed.metadata()
            for name in ["resource", "audience"] {
                metadata.resourceParameter = name
                _ = try await bed.oauth.redeem(
                    .refreshToken(Secret("rt"), scopes: Scopes([])), with: extras, as: .init(clientID: "app"),
                    at: metadata)
                let request = try #require(bed.provider.requests(to: .token).last)
                #expect(
                    request.text == "grant_type=refresh_token&refresh_token=rt&\(name)=https%3A%2F%2Fa.example%2F"
                        + "&\(name)=https%3A%2F%2Fb.example%2F&client_info=1&client_id=app")
            }
        }
    }

    @Test("every byte of a secret is sent unchanged")
    func secretBytes() async throws {
        try await withProvider { bed async throws in
            let odd = "a b+c&d=e%41;/?~*äß€😀\n\u{1}"
            bed.provider.on(.token) { _ in .json(["access_token": "at", "token_type": "bearer"]) }
            _ = try await bed.redeem(.refreshToken(Secret(odd), scopes: Scopes([])))
            let request = try #require(bed.provider.requests(to: .token).last)
            #expect(request.form["refresh_token"] == odd)
            #expect(request.form["scope"] == nil)
            #expect(request.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f })
        }
    }

    @Test("a confidential client authenticates with Basic, form-encoded, and not in the body")
    func basic() async throws {
        try await withProvider { bed async throws in
            for secret in ["s", "se", "sec", "s:e c+r%et&ü?"] {
                bed.provider.configure { $0.clientSecret = secret }
                let client = ClientCredentials(clientID: "my:app ü", secret: Secret(secret))
                let response = try await bed.redeem(bed.code(clientID: "my:app ü"), as: client)
                #expect(response.refreshToken != nil)
                let request = try #require(bed.provider.requests(to: .token).last)
                #expect(request.basicCredentials?.id == "my:app ü")
                #expect(request.form["client_id"] == nil)
                #expect(request.form["client_secret"] == nil)
            }
        }
    }

    @Test("the Authorization field matches RFC 6749's example")
    func basicExample() async throws {
        try await withProvider { bed async throws in
            let client = ClientCredentials(clientID: "s6BhdRkqt3", secret: Secret("gX1fBat3bV"))
            bed.provider.on(.token) { _ in .json(["access_token": "at", "token_type": "bearer"]) }
            _ = try await bed.redeem(bed.code(), as: client)
            let request = try #require(bed.provider.requests(to: .token).last)
            #expect(request.headers["authorization"] == "Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW")
        }
    }

    @Test("without Basic the secret is sent in the body, and without either method nothing is sent")
    func otherMethods() async throws {
        try await withProvider { bed async throws in
            bed.provider.configure {
                $0.clientSecret = "s+1"
                $0.metadata = ["token_endpoint_auth_methods_supported": ["client_secret_post"]]
            }
            let client = ClientCredentials(clientID: "app", secret: Secret("s+1"))
            _ = try await bed.redeem(bed.code(), as: client)
            let request = try #require(bed.provider.requests(to: .token).last)
            #expect(request.form["client_secret"] == "s+1")
            #expect(request.headers["authorization"] == nil)

            bed.provider.configure {
                $0.metadata = ["token_endpoint_auth_methods_supported": ["private_key_jwt"]]
            }
            bed.clock.advance(bySeconds: 3600)
            #expect(await bed.failure { try await bed.redeem(bed.code(), as: client) }?.isInvalidResponse == true)
            #expect(bed.provider.requests(to: .token).count == 1)
        }
    }

    @Test("a client's own method takes precedence over the provider's metadata")
    func registeredMethod() async throws {
        try await withProvider { bed async throws in
            bed.provider.configure {
                $0.clientSecret = "s-1"
                $0.metadata = ["token_endpoint_auth_methods_supported": ["client_secret_basic"]]
            }
            let post = ClientCredentials(clientID: "app", secret: Secret("s-1"), method: .post)
            _ = try await bed.redeem(bed.code(), as: post)
            var request = try #require(bed.provider.requests(to: .token).last)
            #expect(request.form["client_secret"] == "s-1")
            #expect(request.form["client_id"] == "app")
            #expect(request.headers["authorization"] == nil)

            bed.provider.configure { $0.metadata = ["token_endpoint_auth_methods_supported": ["client_secret_post"]] }
            bed.clock.advance(bySeconds: 3600)
            _ = try await bed.redeem(
                bed.code(), as: ClientCredentials(clientID: "app", secret: Secret("s-1"), method: .basic))
            request = try #require(bed.provider.requests(to: .token).last)
            #expect(request.basicCredentials?.secret == "s-1")
        }
    }

    @Test("metadata that would send a secret over plain http is refused where it is used")
    func plainEndpoint() async throws {
        try await withProvider { bed async throws in
            var metadata = try await bed.metadata()
            metadata.authority = try Authority(parsing: "https://idp.example", allowHTTPLoopback: false)
            let failure = await bed.failure {
                try await bed.oauth.redeem(
                    bed.code(), with: TokenRequestExtras(), as: .init(clientID: "app"), at: metadata)
            }
            #expect(failure?.isInvalidResponse == true)
            #expect(bed.provider.requests(to: .token).isEmpty)
        }
    }
}

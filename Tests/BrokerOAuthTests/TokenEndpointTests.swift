import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Testing

extension ProviderBed {
    func redeem(
        _ grant: TokenGrant, as client: ClientCredentials = .init(clientID: "app")
    ) async throws -> TokenResponse {
        try await oauth.redeem(grant, as: client, at: metadata())
    }

    /// The outcome of a refresh that the provider answers so.
    func refresh(answered answer: ProviderAnswer) async throws -> Result<TokenResponse, ProviderError> {
        provider.on(.token) { _ in answer }
        let metadata = try await metadata()
        do throws(ProviderError) {
            return .success(
                try await oauth.redeem(
                    .refreshToken(Secret("rt"), scopes: Scopes(["mail"]), claims: nil), as: .init(clientID: "app"),
                    at: metadata))
        } catch {
            return .failure(error)
        }
    }

    func refreshFailure(_ answer: ProviderAnswer) async throws -> ProviderError? {
        if case .failure(let error) = try await refresh(answered: answer) { error } else { nil }
    }
}

@Suite("Token requests")
struct TokenRequestTests {
    @Test("a code is redeemed with its verifier, and the answer's ID token is good")
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
            guard case .authorizationCode(let code, _, let redirectURI, _) = bed.code() else { return }
            let failure = await bed.failure {
                try await bed.redeem(
                    .authorizationCode(code, verifier: Secret("other"), redirectURI: redirectURI, claims: nil))
            }
            #expect(failure == .refused(OAuthRefusal(error: "invalid_grant", status: 400)))
        }
    }

    @Test("a refresh rotates the token, and reuse ends the chain")
    func refresh() async throws {
        try await withProvider { bed async throws in
            let first = try #require(try await bed.redeem(bed.code()).refreshToken)
            func refresh(_ token: Secret) async throws -> TokenResponse {
                try await bed.redeem(.refreshToken(token, scopes: Scopes(["openid", "a b+c"]), claims: #"{"x":1}"#))
            }
            let second = try #require(try await refresh(first).refreshToken)
            #expect(first != second)
            let form = try #require(bed.provider.requests(to: .token).last).form
            #expect(form["scope"] == "openid a b+c")
            #expect(form["claims"] == #"{"x":1}"#)
            #expect(form["grant_type"] == "refresh_token")
            for dead in [first, second] {
                guard case .refused(let refusal) = await bed.failure({ try await refresh(dead) }) else {
                    Issue.record("it was accepted")
                    return
                }
                #expect(refusal.error == "invalid_grant")
            }
        }
    }

    @Test("every byte of a secret arrives as it is")
    func secretBytes() async throws {
        try await withProvider { bed async throws in
            let odd = "a b+c&d=e%41;/?~*äß€😀\n\u{1}"
            bed.provider.on(.token) { _ in .json(["access_token": "at", "token_type": "bearer"]) }
            _ = try await bed.redeem(.refreshToken(Secret(odd), scopes: Scopes([]), claims: nil))
            let request = try #require(bed.provider.requests(to: .token).last)
            #expect(request.form["refresh_token"] == odd)
            #expect(request.form["scope"] == nil)
            #expect(request.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f })
        }
    }

    @Test("a confidential client authenticates with Basic, its parts form-encoded, and stays out of the body")
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

    @Test("the exact Authorization field of RFC 6749's example")
    func basicExample() async throws {
        try await withProvider { bed async throws in
            let client = ClientCredentials(clientID: "s6BhdRkqt3", secret: Secret("gX1fBat3bV"))
            bed.provider.on(.token) { _ in .json(["access_token": "at", "token_type": "bearer"]) }
            _ = try await bed.redeem(bed.code(), as: client)
            let request = try #require(bed.provider.requests(to: .token).last)
            #expect(request.headers["authorization"] == "Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW")
        }
    }

    @Test("where Basic is not offered the secret goes into the body; where neither is, nothing goes out")
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
            guard case .invalidResponse = await bed.failure({ try await bed.redeem(bed.code(), as: client) }) else {
                Issue.record("it was sent")
                return
            }
            #expect(bed.provider.requests(to: .token).count == 1)
        }
    }

    @Test("metadata that would send a secret over plain http is refused where it is used")
    func plainEndpoint() async throws {
        try await withProvider { bed async throws in
            var metadata = try await bed.metadata()
            metadata.authority = try Authority(parsing: "https://idp.example", allowHTTPLoopback: false)
            let failure = await bed.failure {
                try await bed.oauth.redeem(bed.code(), as: .init(clientID: "app"), at: metadata)
            }
            guard case .invalidResponse = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(bed.provider.requests(to: .token).isEmpty)
        }
    }
}

@Suite("Token answers")
struct TokenAnswerTests {
    private static let minimal: JSONObject = ["access_token": "at", "token_type": "Bearer"]

    @Test("everything that an answer can hold is read")
    func complete() async throws {
        try await withProvider { bed async throws in
            var answer = Self.minimal
            answer["expires_in"] = 3599
            answer["ext_expires_in"] = "7200"
            answer["refresh_in"] = 1800.5
            answer["refresh_token"] = "rt-2"
            answer["id_token"] = "a.b.c"
            answer["scope"] = "Mail.Read openid"
            answer["foci"] = "1"
            answer["client_info"] = "eyJ9"
            let response = try await bed.refresh(answered: .json(.object(answer))).get()
            #expect(response.accessToken == Secret("at"))
            #expect(response.expiresIn == 3599)
            #expect(response.extendedExpiresIn == 7200)
            #expect(response.refreshIn == 1800)
            #expect(response.refreshToken == Secret("rt-2"))
            #expect(response.idToken == Secret("a.b.c"))
            #expect(response.scope == "Mail.Read openid")
            #expect(response.familyID == "1")
            #expect(response.clientInfo == "eyJ9")
        }
    }

    @Test(
        "lifetimes come as numbers and as strings, and never overflow",
        arguments: [
            (JSONValue.integer(60), Int64(60)), ("60", 60), (60.9, 60), ("60.9", 60), (-5, 0), ("-5", 0),
            (.integer(.max), 3_153_600_000), ("99999999999999999999", nil), (1e300, nil), ("soon", nil), (.null, nil),
            (true, nil), ("nan", nil), ("inf", nil),
        ] as [(JSONValue, Int64?)])
    func lifetimes(value: JSONValue, expected: Int64?) async throws {
        try await withProvider { bed async throws in
            let answer = Self.minimal.merging(["expires_in": value]) { $1 }
            #expect(try await bed.refresh(answered: .json(.object(answer))).get().expiresIn == expected)
        }
    }

    @Test(
        "the token type is compared without case",
        arguments: [("bearer", TokenType.bearer), ("BEARER", .bearer), ("dpop", .dpop)])
    func tokenType(name: String, expected: TokenType) async throws {
        try await withProvider { bed async throws in
            let answer = Self.minimal.merging(["token_type": .string(name)]) { $1 }
            #expect(try await bed.refresh(answered: .json(.object(answer))).get().tokenType == expected)
        }
    }

    @Test(
        "an answer without what makes a token is refused",
        arguments: [
            [:], ["access_token": "at"], ["access_token": "", "token_type": "Bearer"],
            ["access_token": 5, "token_type": "Bearer"], ["access_token": "at", "token_type": "mac"],
        ] as [JSONObject])
    func incomplete(answer: JSONObject) async throws {
        try await withProvider { bed async throws in
            guard case .invalidResponse(status: 200, let text) = try await bed.refreshFailure(.json(.object(answer)))
            else {
                Issue.record("it was accepted")
                return
            }
            #expect(!text.contains("\"at\""))
        }
    }

    @Test("an OAuth error keeps what the engine decides by")
    func refusal() async throws {
        try await withProvider { bed async throws in
            let answer = ProviderAnswer.json(
                [
                    "error": "invalid_grant", "error_description": "AADSTS50173: \u{1b}[31mexpired\r\nforged line",
                    "suberror": "bad_token", "error_codes": [50173, "x"], "claims": "{}",
                ], status: 400)
            let expected = OAuthRefusal(
                error: "invalid_grant", subError: "bad_token", description: "AADSTS50173: [31mexpired forged line",
                status: 400, claims: "{}", errorCodes: [50173])
            #expect(try await bed.refreshFailure(answer) == .refused(expected))
        }
    }

    @Test("an error with status 200 is an error")
    func errorWithStatus200() async throws {
        try await withProvider { bed async throws in
            let answer = ProviderAnswer.oauthError("bad_verification_code", status: 200)
            #expect(
                try await bed.refreshFailure(answer)
                    == .refused(OAuthRefusal(error: "bad_verification_code", status: 200)))
        }
    }

    @Test("a long description is cut, and what could change the direction of writing is left out")
    func descriptions() async throws {
        try await withProvider { bed async throws in
            let text = "\u{202e}" + String(repeating: "long ", count: 1000)
            guard case .refused(let refusal) = try await bed.refreshFailure(.oauthError("x", description: text)) else {
                Issue.record("it was something else")
                return
            }
            let description = try #require(refusal.description)
            #expect(description.hasPrefix("long long"))
            #expect(description.count <= 401)
        }
    }

    @Test("a bare 400 for a refresh token means that it is dead", arguments: ["", " \r\n"])
    func bareRefusal(body: String) async throws {
        try await withProvider { bed async throws in
            let answer = ProviderAnswer(status: 400, body: Array(body.utf8))
            guard case .refused(let refusal) = try await bed.refreshFailure(answer) else {
                Issue.record("it was something else")
                return
            }
            #expect(refusal.error == "invalid_grant")
            #expect(refusal.status == 400)
        }
    }

    @Test("a bare 403 refuses a code, but does not kill a refresh token")
    func bareForbidden() async throws {
        try await withProvider { bed async throws in
            guard case .invalidResponse(status: 403, _) = try await bed.refreshFailure(.empty(403)) else {
                Issue.record("the refresh token was refused")
                return
            }
            guard case .refused(let refusal) = await bed.failure({ try await bed.redeem(bed.code()) }) else {
                Issue.record("the code was not refused")
                return
            }
            #expect(refusal.error == "invalid_grant")
        }
    }

    @Test(
        "an answer in the wrong form says what came instead",
        arguments: [
            (ProviderAnswer.html(), 200), (.html(status: 400), 400), (.html(status: 404), 404), (.empty(200), 200),
            (.json("text"), 200), (.json(["error": 5], status: 400), 400), (.redirect(to: "/login"), 302),
            (ProviderAnswer.json(["access_token": "x"], status: 206), 206),
        ])
    func wrongForm(answer: ProviderAnswer, status: Int) async throws {
        try await withProvider { bed async throws in
            guard case .invalidResponse(status, let text) = try await bed.refreshFailure(answer) else {
                Issue.record("it was something else")
                return
            }
            #expect(text.contains("\(status)"))
            #expect(!text.contains("Sorry"))
        }
    }

    @Test(
        "a provider that cannot now says when, in seconds or as a date",
        arguments: [
            (429, "30", 30), (503, "Fri, 15 Jan 2027 08:01:00 GMT", 60), (503, "Friday, 15-Jan-27 08:01:00 GMT", 60),
            (500, "Fri Jan 15 08:01:00 2027", 60), (503, "Thu, 01 Jan 1970 00:00:00 GMT", 0), (429, "999999", 86_400),
            (429, "soon", nil), (429, "-1", nil), (500, nil, nil), (502, "99999999999999999999", 86_400),
        ] as [(Int, String?, Int?)])
    func unavailable(status: Int, retryAfter: String?, expected: Int?) async throws {
        try await withProvider { bed async throws in
            // 2027-01-15 08:00:00 GMT
            #expect(bed.clock.now == 1_800_000_000)
            for body in [ProviderAnswer.html(), .oauthError("temporarily_unavailable")] {
                var answer = body
                answer.status = status
                answer.headers += retryAfter.map { [("Retry-After", $0)] } ?? []
                guard case .unavailable(status, expected, _) = try await bed.refreshFailure(answer) else {
                    Issue.record("it was something else")
                    return
                }
            }
        }
    }

    @Test(
        "a lost answer leaves the refresh token's fate open, and it was sent once",
        arguments: [ProviderAnswer.hang, .close, .reset, ProviderAnswer.json(.object(minimal)).truncated(after: 3)])
    func lostAnswer(answer: ProviderAnswer) async throws {
        try await withProvider(timeout: .seconds(1)) { bed async throws in
            guard case .outcomeUnknown = try await bed.refreshFailure(answer) else {
                Issue.record("it was something else")
                return
            }
            #expect(bed.provider.requests(to: .token).count == 1)
        }
    }

    @Test("a provider that is gone was not reached")
    func gone() async throws {
        try await withProvider { bed async throws in
            let metadata = try await bed.metadata()
            await bed.provider.stop()
            let failure = await bed.failure {
                try await bed.oauth.redeem(
                    .refreshToken(Secret("rt"), scopes: Scopes([]), claims: nil), as: .init(clientID: "app"),
                    at: metadata)
            }
            guard case .offline = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
        }
    }

    @Test("an answer beyond the bound is refused")
    func tooLarge() async throws {
        try await withProvider { bed async throws in
            guard case .invalidResponse(status: nil, _) = try await bed.refreshFailure(.endless) else {
                Issue.record("it was something else")
                return
            }
        }
    }

    @Test(
        "no error text holds a token",
        arguments: [ProviderAnswer.hang, .html(), .oauthError("invalid_grant"), .empty(500)])
    func noSecretsInErrors(answer: ProviderAnswer) async throws {
        try await withProvider(timeout: .milliseconds(500)) { bed async throws in
            bed.provider.on(.token) { _ in answer }
            let failure = await bed.failure {
                try await bed.redeem(.refreshToken(Secret("very-secret-token"), scopes: Scopes([]), claims: nil))
            }
            #expect(failure != nil)
            #expect(!String(describing: failure).contains("very-secret-token"))
        }
    }
}

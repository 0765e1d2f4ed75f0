import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Testing

extension ProviderBed {
    /// The outcome of a refresh with this response of the provider.
    func refresh(
        answered answer: ProviderAnswer, with key: ProofKey? = nil
    ) async throws -> Result<TokenResponse, ProviderError> {
        provider.on(.token) { _ in answer }
        var extras = TokenRequestExtras()
        extras.proofKey = key
        let metadata = try await metadata()
        do throws(ProviderError) {
            return .success(
                try await oauth.redeem(
                    .refreshToken(Secret("rt"), scopes: Scopes(["mail"])), with: extras,
                    as: .init(clientID: "app"),
                    at: metadata))
        } catch {
            return .failure(error)
        }
    }

    func refreshFailure(_ answer: ProviderAnswer) async throws -> ProviderError? {
        let moments = passMoments()
        defer { moments.cancel() }
        return if case .failure(let error) = try await refresh(answered: answer) { error } else { nil }
    }
}

@Suite("Token answers")
struct TokenAnswerTests {
    private static let minimal: JSONObject = ["access_token": "at", "token_type": "Bearer"]

    @Test("every member of a response is read")
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
        "lifetimes are read as numbers and as strings, and never overflow",
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
            #expect(
                try await bed.refresh(answered: .json(.object(answer)), with: testProofSigner().makeKey()).get()
                    .tokenType == expected)
        }
    }

    @Test(
        "a response without the required members is refused",
        arguments: [
            [:], ["access_token": "", "token_type": "Bearer"], ["access_token": "at", "token_type": ""],
            ["access_token": 5, "token_type": "Bearer"], ["access_token": "at", "token_type": "mac"],
        ] as [JSONObject])
    func incomplete(answer: JSONObject) async throws {
        try await withProvider { bed async throws in
            let (status, text) = try #require(try await bed.refreshFailure(.json(.object(answer)))?.violation)
            #expect(status == 200)
            #expect(!text.contains("\"at\""))
        }
    }

    /// Text that would end a header, or change its meaning, or confuse a reader.
    private static let unprintable = [
        "\r", "\n", "\r\nX-Evil: 1", "\u{0}", "\u{1b}[2J", "\u{7f}", "\u{85}", "é", "\u{202e}",
    ]

    @Test("an access token must be visible ASCII because it becomes part of a header", arguments: unprintable + [" "])
    func accessTokenCharacters(part: String) async throws {
        try await withProvider { bed async throws in
            for text in ["at" + part, part + "at", "a" + part + "t"] {
                let answer = Self.minimal.merging(["access_token": .string(text)]) { $1 }
                let (status, why) = try #require(try await bed.refreshFailure(.json(.object(answer)))?.violation)
                #expect(status == 200)
                #expect(!why.contains(part) || part == " ")
            }
        }
    }

    @Test("an access token may contain every visible character, a refresh token also a space")
    func visibleCharacters() async throws {
        try await withProvider { bed async throws in
            let visible = String(String.UnicodeScalarView((0x21...0x7e).compactMap(Unicode.Scalar.init(_:))))
            let answer = Self.minimal.merging([
                "access_token": .string(visible), "refresh_token": .string("a " + visible),
            ]) { $1 }
            let response = try await bed.refresh(answered: .json(.object(answer))).get()
            #expect(response.accessToken == Secret(visible))
            #expect(response.refreshToken == Secret("a " + visible))
        }
    }

    @Test("refresh tokens and ID tokens must be printable, too", arguments: unprintable)
    func otherTokenCharacters(part: String) async throws {
        try await withProvider { bed async throws in
            for name in ["refresh_token", "id_token"] {
                let answer = Self.minimal.merging([name: .string("t" + part)]) { $1 }
                #expect(try await bed.refreshFailure(.json(.object(answer)))?.isInvalidResponse == true)
            }
        }
    }

    @Test(
        "an invalid response still yields its refresh token because the sent one may be consumed",
        arguments: [
            (["access_token": .null], .bearer), (["access_token": "a\r\nb"], .bearer), (["token_type": ""], nil),
            (["token_type": "mac"], nil), (["token_type": "DPoP"], .dpop), (["id_token": "a\nb"], .bearer),
        ] as [(JSONObject, TokenType?)])
    func rotatedTokenOfMalformedAnswer(changes: JSONObject, type: TokenType?) async throws {
        try await withProvider { bed async throws in
            let answer = Self.minimal.merging(["refresh_token": "rt-2"]) { $1 }.merging(changes) { $1 }
                .filter { $0.value != .null }
            guard case .unusableTokens(let rest) = try await bed.refreshFailure(.json(.object(answer))) else {
                Issue.record("it was something else")
                return
            }
            #expect(rest.refreshToken == Secret("rt-2"))
            #expect(rest.tokenType == type)
            #expect(rest.status == 200)
            #expect(!"\(rest)".contains("rt-2"))
        }
    }

    @Test("a refresh token in an error response, or an invalid one, is not used")
    func noRotatedToken() async throws {
        try await withProvider { bed async throws in
            for (answer, status) in [
                (["refresh_token": "r\nt"], 200), (["refresh_token": ""], 200), (["refresh_token": 5], 200),
                (["refresh_token": "rt-2"], 400), (["refresh_token": "rt-2"], 302),
            ] as [(JSONObject, Int)] {
                let failure = try await bed.refreshFailure(.json(.object(answer), status: status))
                #expect(failure?.isInvalidResponse == true, "\(String(describing: failure))")
            }
            let refusal = ProviderAnswer.json(["error": "invalid_grant", "refresh_token": "rt-2"], status: 200)
            #expect(
                try await bed.refreshFailure(refusal) == .refused(OAuthRefusal(error: "invalid_grant", status: 200)))
        }
    }

    @Test("an empty error code is none")
    func emptyError() async throws {
        try await withProvider { bed async throws in
            let answer = Self.minimal.merging(["error": "", "refresh_token": "rt-2"]) { $1 }
            #expect(try await bed.refresh(answered: .json(.object(answer))).get().refreshToken == Secret("rt-2"))
        }
    }

    @Test(
        "invalid scopes in a response are left out",
        arguments: [
            ("mail openid", "mail openid"), ("mail \u{1b}[31mred openid", "mail openid"), ("a\u{0}b", ""),
            ("mail\u{85}x c\u{9b}1m d", "d"), ("a\u{7f} b\"c d\\e f", "f"),
            ("é https://x.example/a.b?c=d%20e", "https://x.example/a.b?c=d%20e"),
            ("mail\r\nopenid\tx", "mail openid x"), ("a\u{202e}b c", "c"), ("", ""),
        ])
    func scopeCharacters(sent: String, kept: String) async throws {
        try await withProvider { bed async throws in
            let answer = Self.minimal.merging(["scope": .string(sent)]) { $1 }
            #expect(try await bed.refresh(answered: .json(.object(answer))).get().scope == kept)
        }
    }

    @Test("an OAuth error keeps the members that the engine needs")
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

    @Test(
        "a claims challenge that is not a JSON object is ignored because people paste it into commands",
        arguments: ["", "[]", "\\'; touch x", "{", "{}; touch x", "null"])
    func challenges(text: String) async throws {
        try await withProvider { bed async throws in
            let answer = ProviderAnswer.json(["error": "interaction_required", "claims": .string(text)], status: 400)
            let expected = OAuthRefusal(error: "interaction_required", status: 400)
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

    @Test("a long description is truncated, and bidirectional control characters are removed")
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

    @Test("an empty 400 for a refresh token is distinguished from the provider's errors", arguments: ["", " \r\n"])
    func bareRefusal(body: String) async throws {
        try await withProvider { bed async throws in
            let answer = ProviderAnswer(status: 400, body: Array(body.utf8))
            #expect(try await bed.refreshFailure(answer)?.withoutText == .refusedWithoutReason(status: 400, ""))
        }
    }

    @Test(
        "a response that is not an OAuth error does not affect the refresh token, with any status",
        arguments: [400, 401, 403])
    func noOAuthError(status: Int) async throws {
        try await withProvider { bed async throws in
            for answer in [
                ProviderAnswer.html(status: status), .json(["error": 5], status: status), .json([], status: status),
                .json(["error": ["code": 5]], status: status), .json("invalid_grant", status: status),
            ] { #expect(try await bed.refreshFailure(answer)?.isInvalidResponse == true) }
        }
    }

    @Test("a bare 403 refuses a code, but does not kill a refresh token")
    func bareForbidden() async throws {
        try await withProvider { bed async throws in
            #expect(try await bed.refreshFailure(.empty(403))?.withoutText == .invalidResponse(status: 403, ""))
            let refusal = try #require(await bed.refusal { try await bed.redeem(bed.code()) })
            #expect(refusal.error == "invalid_grant")
        }
    }

    @Test(
        "an error for a response in the wrong form describes the response",
        arguments: [
            (ProviderAnswer.html(), 200), (.html(status: 400), 400), (.html(status: 404), 404), (.empty(200), 200),
            (.json("text"), 200), (.json(["error": 5], status: 400), 400), (.redirect(to: "/login"), 302),
            (ProviderAnswer.json(["access_token": "x"], status: 206), 206),
        ])
    func wrongForm(answer: ProviderAnswer, status: Int) async throws {
        try await withProvider { bed async throws in
            let (found, text) = try #require(try await bed.refreshFailure(answer)?.violation)
            #expect(found == status)
            #expect(text.contains("\(status)"))
            #expect(!text.contains("Sorry"))
        }
    }

    @Test(
        "an unavailable provider's Retry-After is read, in seconds or as a date",
        arguments: [
            (429, "30", 30), (503, "Fri, 15 Jan 2027 08:01:00 GMT", 60), (503, "Friday, 15-Jan-27 08:01:00 GMT", 60),
            (500, "Fri Jan 15 08:01:00 2027", 60), (503, "Thu, 01 Jan 1970 00:00:00 GMT", 0), (429, "999999", 86_400),
            (503, "Fri, 15 Jan 2027 08:00:60 GMT", 60), (503, "Fri, 15 Jan 1932 08:00:00 GMT", 0),
            (503, "Fri, 32 Jan 2027 08:01:00 GMT", nil), (503, "Fri, 15 Jan 2027 24:01:00 GMT", nil),
            (503, "15 Jan", nil), (429, "soon", nil), (429, "-1", nil), (500, nil, nil),
            (502, "99999999999999999999", 86_400),
        ] as [(Int, String?, Int?)])
    func unavailable(status: Int, retryAfter: String?, expected: Int?) async throws {
        try await withProvider { bed async throws in
            // 2027-01-15 08:00:00 GMT
            #expect(bed.clock.now == 1_800_000_000)
            for body in [ProviderAnswer.html(), .oauthError("temporarily_unavailable")] {
                var answer = body
                answer.status = status
                answer.headers += retryAfter.map { [("Retry-After", $0)] } ?? []
                #expect(
                    try await bed.refreshFailure(answer)?.withoutText
                        == .unavailable(status: status, retryAfter: expected, ""))
            }
        }
    }

    @Test(
        "a lost response leaves the refresh token's state unknown, and the request was sent once",
        arguments: [ProviderAnswer.hang, .close, .reset, ProviderAnswer.json(.object(minimal)).truncated(after: 3)])
    func lostAnswer(answer: ProviderAnswer) async throws {
        try await withProvider(timeout: .seconds(8)) { bed async throws in
            #expect(try await bed.refreshFailure(answer)?.withoutText == .outcomeUnknown(""))
            #expect(bed.provider.requests(to: .token).count == 1)
        }
    }

    @Test("an unreachable provider is reported as not reached")
    func gone() async throws {
        try await withProvider { bed async throws in
            let metadata = try await bed.metadata()
            await bed.provider.stop()
            let failure = await bed.failure {
                try await bed.oauth.redeem(
                    .refreshToken(Secret("rt"), scopes: Scopes([])), with: TokenRequestExtras(),
                    as: .init(clientID: "app"),
                    at: metadata)
            }
            #expect(failure?.withoutText == .offline(""))
        }
    }

    @Test("a response beyond the size limit is refused")
    func tooLarge() async throws {
        try await withProvider { bed async throws in
            #expect(try await bed.refreshFailure(.endless)?.withoutText == .invalidResponse(status: nil, ""))
        }
    }

    @Test(
        "no error text contains a token",
        arguments: [ProviderAnswer.hang, .html(), .oauthError("invalid_grant"), .empty(500)])
    func noSecretsInErrors(answer: ProviderAnswer) async throws {
        try await withProvider(timeout: .seconds(5)) { bed async throws in
            bed.provider.on(.token) { _ in answer }
            let moments = bed.passMoments()
            defer { moments.cancel() }
            let failure = await bed.failure {
                try await bed.redeem(.refreshToken(Secret("very-secret-token"), scopes: Scopes([])))
            }
            #expect(failure != nil)
            #expect(!String(describing: failure).contains("very-secret-token"))
        }
    }
}

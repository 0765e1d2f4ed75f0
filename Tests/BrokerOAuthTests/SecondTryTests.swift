import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("A provider that fails once")
struct SecondTryTests {
    private static let token: JSONObject = ["access_token": "at", "token_type": "Bearer"]

    /// The provider's responses: these statuses in their order, then a token.
    private func answers(_ bed: ProviderBed, _ failures: [ProviderAnswer]) {
        let count = Recorder<Void>()
        bed.provider.on(.token) { _ in
            count.add(())
            return count.all.count <= failures.count ? failures[count.all.count - 1] : .json(.object(Self.token))
        }
    }

    private func requests(_ bed: ProviderBed) -> Int { bed.provider.requests.filter { $0.path == "/token" }.count }

    private let refresh = TokenGrant.refreshToken(Secret("rt"), scopes: Scopes(["mail"]))

    @Test("a 5xx without Retry-After is retried once, half a second later")
    func once() async throws {
        try await withProvider { bed async throws in
            answers(bed, [.empty(502)])
            async let response = bed.redeem(refresh)
            try await bed.clock.waitForSleepers()
            #expect(requests(bed) == 1)
            bed.clock.advance(bySeconds: 1)
            #expect(try await response.accessToken == Secret("at"))
            #expect(requests(bed) == 2)
        }
    }

    @Test(
        "a second 5xx is not retried, and the one reported is that after which the token may be spent",
        arguments: [(502, 503, 502), (503, 502, 502), (503, 500, 500)])
    func twice(first: Int, second: Int, reported: Int) async throws {
        try await withProvider { bed async throws in
            answers(bed, [.empty(first), .empty(second)])
            let moments = bed.passMoments()
            defer { moments.cancel() }
            #expect(
                await bed.failure { try await bed.redeem(refresh) }?.withoutText
                    == .unavailable(status: reported, retryAfter: nil, ""))
            #expect(requests(bed) == 2)
        }
    }

    @Test("a first failure that may have spent the token outlives any other second one, with its pause")
    func otherSecond() async throws {
        try await withProvider { bed async throws in
            let moments = bed.passMoments()
            defer { moments.cancel() }
            answers(bed, [.empty(502), .empty(429, headers: [("Retry-After", "120")])])
            #expect(
                await bed.failure { try await bed.redeem(refresh) }?.withoutText
                    == .unavailable(status: 502, retryAfter: 120, ""))
            answers(bed, [.empty(502), .empty(429)])
            #expect(
                await bed.failure { try await bed.redeem(refresh) }?.withoutText
                    == .unavailable(status: 502, retryAfter: 60, ""))
            answers(bed, [.empty(502), .empty(403)])
            #expect(
                await bed.failure { try await bed.redeem(refresh) }?.withoutText
                    == .unavailable(status: 502, retryAfter: nil, ""))
        }
    }

    @Test(
        "a response with Retry-After, another status and an unknown outcome are not retried",
        arguments: [
            ProviderAnswer.empty(503, headers: [("Retry-After", "2")]), .empty(429), .oauthError("invalid_grant"),
            .reset, .empty(504),
        ])
    func never(answer: ProviderAnswer) async throws {
        try await withProvider { bed async throws in
            answers(bed, [answer])
            #expect(await bed.failure { try await bed.redeem(refresh) } != nil)
            #expect(requests(bed) == 1)
        }
    }

    @Test("a refusal of the second attempt is marked, because the first may have consumed the token")
    func refusedThen() async throws {
        try await withProvider { bed async throws in
            answers(bed, [.empty(502), .oauthError("invalid_grant")])
            let moments = bed.passMoments()
            defer { moments.cancel() }
            let refusal = try #require(await bed.refusal { try await bed.redeem(refresh) })
            #expect(refusal.error == "invalid_grant" && refusal.isOfSecondTry)
            answers(bed, [.oauthError("invalid_grant")])
            let first = try #require(await bed.refusal { try await bed.redeem(refresh) })
            #expect(!first.isOfSecondTry)
        }
    }

    @Test("signing keys for a sign-in are asked for once more, because its code is spent")
    func signingKeys() async throws {
        try await withProvider { bed async throws in
            let count = Recorder<Void>()
            bed.provider.on(.keys) { _ in
                count.add(())
                return count.all.count == 1 ? .empty(503) : nil
            }
            let token = bed.provider.identity.sign(bed.goodClaims)
            async let claims = bed.verify(token)
            try await bed.clock.waitForSleepers()
            #expect(count.all.count == 1)
            bed.clock.advance(bySeconds: 1)
            #expect(try await claims.subject == "alice")
            #expect(count.all.count == 2)
        }
    }

    @Test("a failed UserInfo request is sent once more, because the code of its sign-in is spent")
    func userInfo() async throws {
        try await withProvider { bed async throws in
            let count = Recorder<Void>()
            bed.provider.on(.userinfo) { _ in
                count.add(())
                return count.all.count == 1 ? .empty(503) : .json(["sub": "alice"])
            }
            let moments = bed.passMoments()
            defer { moments.cancel() }
            let told = try await bed.oauth.userInfo(with: Secret("at"), .bearer, provenBy: nil, at: bed.metadata())
            #expect(told.subject == "alice")
            #expect(count.all.count == 2)
        }
    }

    @Test("signing keys for a refreshed token are asked for once: another refresh follows")
    func signingKeysOfRefresh() async throws {
        try await withProvider { bed async throws in
            bed.provider.on(.keys) { _ in .empty(503) }
            let metadata = try await bed.metadata()
            var expectation = IDTokenExpectation(clientID: "app", nonce: nil)
            expectation.isSignIn = false
            let (expected, token) = (expectation, Secret(bed.provider.identity.sign(bed.goodClaims)))
            let failure = await bed.failure {
                try await bed.oauth.verify(idToken: token, against: expected, at: metadata)
            }
            #expect(failure?.withoutText == .unavailable(status: 503, retryAfter: nil, ""))
            #expect(bed.provider.requests(to: .keys).count == 1)
        }
    }

    @Test("a poll for a device code is not retried")
    func deviceCode() async throws {
        try await withProvider { bed async throws in
            answers(bed, [.empty(503)])
            #expect(await bed.failure { try await bed.redeem(.deviceCode(Secret("dc"))) } != nil)
            #expect(requests(bed) == 1)
        }
    }
}

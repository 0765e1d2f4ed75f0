import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("A provider that fails once")
struct SecondTryTests {
    private static let token: JSONObject = ["access_token": "at", "token_type": "Bearer"]

    /// What the provider answers: these statuses one after the other, then a token.
    private func answers(_ bed: ProviderBed, _ failures: [ProviderAnswer]) {
        let count = Recorder<Void>()
        bed.provider.on(.token) { _ in
            count.add(())
            return count.all.count <= failures.count ? failures[count.all.count - 1] : .json(.object(Self.token))
        }
    }

    private func requests(_ bed: ProviderBed) -> Int { bed.provider.requests.filter { $0.path == "/token" }.count }

    private let refresh = TokenGrant.refreshToken(Secret("rt"), scopes: Scopes(["mail"]))

    @Test("a 5xx without Retry-After is tried once more, half a second later")
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

    @Test("twice is told, and not tried a third time")
    func twice() async throws {
        try await withProvider { bed async throws in
            answers(bed, [.empty(502), .empty(503)])
            let moments = bed.passMoments()
            defer { moments.cancel() }
            guard case .unavailable(503, nil, _) = await bed.failure({ try await bed.redeem(refresh) }) else {
                Issue.record("it was something else")
                return
            }
            #expect(requests(bed) == 2)
        }
    }

    @Test(
        "what says how long to wait, what is no 5xx, and what nobody knows the outcome of is not tried again",
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

    @Test("a refusal of the second try says that it is one: the first may have spent the token")
    func refusedThen() async throws {
        try await withProvider { bed async throws in
            answers(bed, [.empty(502), .oauthError("invalid_grant")])
            let moments = bed.passMoments()
            defer { moments.cancel() }
            guard case .refused(let refusal) = await bed.failure({ try await bed.redeem(refresh) }) else {
                Issue.record("it was something else")
                return
            }
            #expect(refusal.error == "invalid_grant" && refusal.isOfSecondTry)
            answers(bed, [.oauthError("invalid_grant")])
            guard case .refused(let first) = await bed.failure({ try await bed.redeem(refresh) }) else {
                Issue.record("it was something else")
                return
            }
            #expect(!first.isOfSecondTry)
        }
    }

    @Test("a device code is asked about again soon anyway")
    func deviceCode() async throws {
        try await withProvider { bed async throws in
            answers(bed, [.empty(503)])
            #expect(await bed.failure { try await bed.redeem(.deviceCode(Secret("dc"))) } != nil)
            #expect(requests(bed) == 1)
        }
    }
}

import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Refreshes whose answer is no good")
struct DoubtfulAnswerTests {
    private func failure(_ bed: EngineBed, _ request: SilentRequest? = nil) async -> BrokerError? {
        await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(request ?? bed.silent()) }
    }

    private func signedIn() async throws -> EngineBed {
        let bed = try await EngineBed()
        try await bed.signIn()
        return bed
    }

    private func refuseWithoutReason(_ bed: EngineBed) {
        bed.provider.whenRedeeming { _ throws(ProviderError) in throw .refusedWithoutReason(status: 400, "no reason") }
    }

    @Test("one empty 400 does not end a sign-in; the second in a row does, after a restart, too")
    func refusedTwice() async throws {
        let bed = try await signedIn()
        bed.clock.advance(bySeconds: 4000)
        refuseWithoutReason(bed)
        let told = await failure(bed)
        #expect(told?.kind == .serverUnavailable)
        #expect(told?.reason == .refreshRefused)
        #expect(told?.details.httpStatus == 400)
        let engine = try await bed.restarted()
        let last = await #expect(throws: BrokerError.self) { try await engine.acquireSilent(bed.silent()) }
        #expect(last?.reason == .refreshTokenRevoked)
        #expect(last?.details.oauthError == "invalid_grant")
        #expect(bed.provider.refreshes == ["rt-1", "rt-1"])
        _ = await #expect(throws: BrokerError.self) { try await engine.acquireSilent(bed.silent()) }
        #expect(bed.provider.refreshes.count == 2, "the token is gone")
    }

    @Test(
        "a gateway that lost the provider's answer may have cost the token: a refusal afterwards says so",
        arguments: [502, 504])
    func gateway(status: Int) async throws {
        let bed = try await signedIn()
        bed.clock.advance(bySeconds: 4000)
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            throw .unavailable(status: status, retryAfter: nil, "bad gateway")
        }
        #expect(await failure(bed)?.kind == .serverUnavailable)
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            throw .refused(OAuthRefusal(error: "invalid_grant", status: 400))
        }
        let told = await failure(bed)
        #expect(told?.reason == .refreshTokenRevoked && told?.message.contains("was lost on the way") == true)
    }

    @Test("a refusal of a second try says that the first one's answer was lost")
    func secondTry() async throws {
        let bed = try await signedIn()
        bed.clock.advance(bySeconds: 4000)
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            var refusal = OAuthRefusal(error: "invalid_grant", status: 400)
            refusal.isOfSecondTry = true
            throw .refused(refusal)
        }
        #expect(await failure(bed)?.message.contains("was lost on the way") == true)
    }

    @Test(
        "whatever the provider itself says in between begins the count anew",
        arguments: [nil, OAuthRefusal(error: "invalid_client", status: 401)])
    func refusedAgainLater(refusal: OAuthRefusal?) async throws {
        let bed = try await signedIn()
        bed.clock.advance(bySeconds: 4000)
        refuseWithoutReason(bed)
        #expect(await failure(bed)?.reason == .refreshRefused)
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ throws(ProviderError) in
            if let refusal { throw .refused(refusal) }
            var response = provider.tokens()
            response.refreshToken = nil
            return response
        }
        let forced = bed.silent { $0.forceRefresh = true }
        _ = try? await bed.engine.acquireSilent(forced)
        refuseWithoutReason(bed)
        #expect(await failure(bed, forced)?.reason == .refreshRefused)
        bed.provider.whenRedeeming(nil)
        #expect(try await !bed.engine.acquireSilent(forced).fromCache)
    }

    @Test("a token that a provider does not rotate is given up when it is refused again a minute later, not before")
    func refusedForAMoment() async throws {
        let bed = try await signedIn()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            var response = provider.tokens()
            response.refreshToken = nil
            return response
        }
        let forced = bed.silent { $0.forceRefresh = true }
        _ = try await bed.engine.acquireSilent(forced)
        func refuse() async -> BrokerError? {
            bed.provider.whenRedeeming { _ throws(ProviderError) in
                throw .refused(OAuthRefusal(error: "invalid_grant", status: 400))
            }
            return await failure(bed, forced)
        }
        #expect(await refuse()?.reason == .refreshTokenRevoked)
        bed.provider.whenRedeeming(nil)
        bed.clock.advance(bySeconds: 121)
        _ = try await bed.engine.acquireSilent(forced)

        // The double rotates now, and a token that was rotated is not doubted.
        #expect(await refuse()?.reason == .refreshTokenRevoked)
        bed.clock.advance(bySeconds: 121)
        #expect(await refuse()?.reason == .noTokens)
    }

    @Test("a rotated refresh token is kept although the rest of the answer is no good, and a restart knows it")
    func malformedAnswer() async throws {
        let bed = try await signedIn()
        bed.clock.advance(bySeconds: 4000)
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            throw .unusableTokens(
                RejectedTokenResponse(
                    refreshToken: Secret("rt-9"), tokenType: nil, status: 200, message: "no access token"))
        }
        let told = await failure(bed)
        #expect(told?.kind == .invalidResponse)
        #expect(told?.details.httpStatus == 200)
        bed.provider.whenRedeeming(nil)
        let engine = try await bed.restarted()
        _ = try await engine.acquireSilent(bed.silent())
        #expect(bed.provider.refreshes == ["rt-1", "rt-9"])
    }
}

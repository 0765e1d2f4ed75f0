import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// Tokens that came and are not kept (decision 35).
@Suite("Tokens that nobody keeps are given back")
struct UnkeptTokenTests {
    /// A sign-in that is to be Alice's.
    private func signIn(_ bed: EngineBed, as person: String) async -> BrokerError? {
        let (browser, signIn) = bed.begin(
            bed.interactive {
                $0.loginHint = "alice"
                $0.isHintBinding = true
            })
        do {
            _ = try await bed.redirects.visit(browser.opening(), code: person)
            _ = try await signIn.value
            return nil
        } catch {
            return error as? BrokerError
        }
    }

    @Test("those of a bad ID token are revoked, and the answer does not wait for it")
    func badIDToken() async throws {
        let bed = try await EngineBed()
        let gate = Gate()
        bed.provider.holdRevocations(at: gate)
        #expect(await signIn(bed, as: "forged")?.kind == .invalidResponse)
        #expect(bed.provider.revoked.isEmpty)
        gate.open()
        try await bed.provider.waitForRevocations(2)
        #expect(bed.provider.revoked == ["rt-1", "at-1"])
    }

    @Test("those of another person are revoked, unless the broker holds a sign-in of theirs that would go with them")
    func anotherPerson() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("bob", Sample.app("notes"))
        #expect(await signIn(bed, as: "bob")?.kind == .mismatchedUser)
        #expect(await signIn(bed, as: "carol")?.kind == .mismatchedUser)
        try await bed.provider.waitForRevocations(2)
        #expect(bed.provider.revoked == ["rt-3", "at-3"])
    }

    @Test("the refresh token of an answer that is no good otherwise is revoked")
    func unusableAnswer() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            throw .unusableTokens(
                RejectedTokenResponse(
                    refreshToken: Secret("rt-9"), tokenType: nil, status: 200, message: "no access token"))
        }
        #expect(await signIn(bed, as: "alice")?.kind == .invalidResponse)
        try await bed.provider.waitForRevocations()
        #expect(bed.provider.revoked == ["rt-9"])
    }

    @Test("a stop waits for revocations under way")
    func shutdown() async throws {
        let bed = try await EngineBed()
        let gate = Gate()
        bed.provider.holdRevocations(at: gate)
        #expect(await signIn(bed, as: "forged") != nil)
        let drained = Task { [engine = bed.engine] in await engine.drain() }
        gate.open()
        await drained.value
        #expect(bed.provider.revoked == ["rt-1", "at-1"])
    }

    @Test("a provider without revocation is not asked, and one that fails changes nothing")
    func bestEffort() async throws {
        let bed = try await EngineBed()
        bed.provider.offer { $0.revocationEndpoint = nil }
        #expect(await signIn(bed, as: "forged")?.kind == .invalidResponse)
        await bed.engine.drain()
        #expect(bed.provider.revoked.isEmpty)
        bed.provider.offer { _ in }
        bed.provider.failRevocation(.offline("There is no network."))
        #expect(await signIn(bed, as: "forged")?.kind == .invalidResponse)
        await bed.engine.drain()
        #expect(bed.provider.revoked == ["rt-2", "at-2"])
    }
}

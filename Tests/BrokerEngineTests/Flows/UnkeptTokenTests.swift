import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// Tokens that were received and are not kept (decision 18).
@Suite("Discarded tokens are revoked")
struct UnkeptTokenTests {
    /// A sign-in that must be Alice's.
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

    @Test("tokens with a bad ID token are revoked, without delaying the answer")
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

    @Test("tokens of another person are revoked, unless that would end a sign-in that the broker holds")
    func anotherPerson() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("bob", Sample.app("notes"))
        #expect(await signIn(bed, as: "bob")?.kind == .mismatchedUser)
        #expect(await signIn(bed, as: "carol")?.kind == .mismatchedUser)
        try await bed.provider.waitForRevocations(2)
        #expect(bed.provider.revoked == ["rt-3", "at-3"])
    }

    @Test("the refresh token of an unusable response is revoked")
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

    @Test("a code is not redeemed if the vault cannot be read")
    func unreadable() async throws {
        let bed = try await EngineBed()
        let (browser, signIn) = bed.begin(bed.interactive())
        let opening = try await browser.opening()
        bed.vault.failReading(.appMetadata, .io("The disk is broken."))
        _ = await bed.redirects.visit(opening, code: "alice")
        await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(bed.provider.grants.isEmpty)
    }

    @Test("shutdown waits for revocations in progress")
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

    @Test("a provider without revocation is not asked, and a failing one changes nothing")
    func bestEffort() async throws {
        for isOffered in [false, true] {
            let bed = try await EngineBed()
            bed.provider.offer { if !isOffered { $0.revocationEndpoint = nil } }
            bed.provider.failRevocation(.offline("There is no network."))
            #expect(await signIn(bed, as: "forged")?.kind == .invalidResponse)
            await bed.engine.drain()
            #expect(bed.provider.revoked == (isOffered ? ["rt-1", "at-1"] : []))
        }
    }
}

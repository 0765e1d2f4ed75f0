import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("A stop during a sign-in")
struct StopDuringSignInTests {
    /// - Returns: how many refresh tokens were on disk when the engine had drained.
    private func drain(_ bed: EngineBed) -> Task<Int?, any Error> {
        Task.immediate { [engine = bed.engine, vault = bed.vault] in
            await engine.drain()
            return try vault.statistics(of: Sample.partition).records[.refreshToken]
        }
    }

    @Test("the broker waits for a code that is being redeemed and keeps its tokens, even if the caller has gone")
    func redeeming() async throws {
        let bed = try await EngineBed()
        let gate = bed.holdTokens(for: "alice")
        let (browser, signIn) = bed.begin(bed.interactive())
        let opening = try await browser.opening()
        async let page = bed.redirects.visit(opening, code: "alice")
        try await bed.provider.waitForGrants()
        signIn.cancel()
        let drained = drain(bed)
        gate.open()
        #expect(try await drained.value == 1)
        #expect(await page == .signedIn(username: "alice", app: "mail"))
        #expect(try await signIn.value.persisted)
    }

    @Test("tokens of a redeemed code that are not kept are revoked before the broker stops")
    func refused() async throws {
        let bed = try await EngineBed()
        let gate = bed.holdTokens(for: "forged")
        let (browser, signIn) = bed.begin(bed.interactive())
        let opening = try await browser.opening()
        async let page = bed.redirects.visit(opening, code: "alice")
        try await bed.provider.waitForGrants()
        let drained = drain(bed)
        gate.open()
        #expect(try await drained.value == nil)
        #expect(bed.provider.revoked == ["rt-1", "at-1"])
        _ = await page
        await #expect(throws: BrokerError.self) { try await signIn.value }
    }

    @Test("the broker does not wait for a sign-in whose window is not open yet")
    func opening() async throws {
        let bed = try await EngineBed()
        let gate = Gate()
        bed.provider.holdMetadata(at: gate)
        let (_, signIn) = bed.begin(bed.interactive())
        try await eventually("the provider is asked") { !bed.provider.asked.isEmpty }
        await bed.engine.drain()
        gate.open()
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.reason == .interrupted)
    }
}

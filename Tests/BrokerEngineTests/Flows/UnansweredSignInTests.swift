import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("A sign-in at a provider that does not answer")
struct UnansweredSignInTests {
    /// Ways to end the wait.
    enum Way: CaseIterable {
        case timeout, leaving, stop

        var kind: ErrorKind {
            switch self {
            case .timeout: .timedOut
            case .leaving: .userCanceled
            case .stop: .serverUnavailable
            }
        }
    }

    @Test("ends at once by its timeout, when the caller goes away and when the broker stops", arguments: Way.allCases)
    func discovery(_ way: Way) async throws {
        let bed = try await EngineBed()
        let gate = Gate()
        bed.provider.holdMetadata(at: gate)
        let (_, signIn) = bed.begin(bed.interactive { $0.timeout = 1 })
        try await gate.waitForCallers()
        switch way {
        case .timeout:
            try await bed.clock.waitForSleepers()
            bed.clock.advance(bySeconds: 1)
        case .leaving: signIn.cancel()
        case .stop: await bed.engine.drain()
        }
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.kind == way.kind)
        #expect(bed.engine.interactionsOpen == 0)
        gate.open()
    }

    @Test("opens no window when the answer comes after all, and the next sign-in succeeds")
    func afterwards() async throws {
        let bed = try await EngineBed()
        let gate = Gate()
        bed.provider.holdMetadata(at: gate)
        let (browser, signIn) = bed.begin(bed.interactive())
        try await gate.waitForCallers()
        signIn.cancel()
        await #expect(throws: BrokerError.self) { try await signIn.value }
        gate.open()
        #expect(try await bed.signIn().account.username == "alice")
        await #expect(throws: BrokerError.self) { try await browser.opening() }
        #expect(bed.provider.authorizations.count == 1)
    }
}

import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Each person's changes wait for their own", .timeLimit(.minutes(1)))
struct OwnQueueTests {
    private static let other = Partition(uid: 4711)

    @Test("while one person's change is being written, another's is written and answered")
    func apart() async throws {
        let bed = try await EngineBed()
        let gate = Gate()
        bed.vault.hold(until: gate, of: Sample.partition)
        let slow = Task { try await bed.signIn("alice") }
        try await eventually("it is written") { bed.vault.held == 1 }
        let (browser, signIn) = bed.begin(bed.interactive { $0.partition = Self.other })
        _ = await bed.redirects.visit(await browser.opening(), code: "bob")
        #expect(try await signIn.value.persisted)
        #expect(bed.vault.held == 1)
        gate.open()
        #expect(try await slow.value.persisted)
    }

    @Test("what the disk refuses of one person is kept for them, and another's change does not say that all is written")
    func refused() async throws {
        let bed = try await EngineBed()
        bed.vault.failWriting(.full("The disk is full."))
        #expect(try await !bed.signIn("alice").persisted)
        bed.vault.failWriting(nil)
        let (browser, signIn) = bed.begin(bed.interactive { $0.partition = Self.other })
        _ = await bed.redirects.visit(await browser.opening(), code: "bob")
        #expect(try await signIn.value.persisted)
        #expect(try bed.vault.statistics(of: Sample.partition).records.isEmpty)
        await bed.engine.drain()
        #expect(try bed.vault.statistics(of: Sample.partition).records[.refreshToken] == 1)
    }
}

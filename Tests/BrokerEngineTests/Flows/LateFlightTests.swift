import BrokerEngine
import BrokerTestSupport
import BrokerValues
import Testing

/// A provider takes longer than callers are kept waiting.
@Suite("Refreshes that are late")
struct LateFlightTests {
    @Test(
        "each refresh is late at its own time, and who joins later has as much",
        .timeLimit(.minutes(1)))
    func lateOneByOne() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        let calendar = Sample.app("calendar", client: "client-2")
        try await bed.signIn("alice", calendar)
        bed.clock.advance(bySeconds: 4000)
        let gate = bed.holdTokens()
        let (engine, first, second) = (bed.engine, bed.silent(), bed.silent(calendar))
        let early = Task { try await engine.acquireSilent(first) }
        while bed.provider.refreshes.isEmpty || bed.clock.sleepers == 0 { await Task.yield() }
        bed.clock.advance(bySeconds: 20)
        let late = Task { try await engine.acquireSilent(second) }
        while bed.provider.refreshes.count < 2 { await Task.yield() }
        bed.clock.advance(bySeconds: 10)
        #expect(await #expect(throws: BrokerError.self) { try await early.value }?.reason == .answerPending)
        while bed.clock.sleepers == 0 { await Task.yield() }
        bed.clock.advance(bySeconds: 19)
        while bed.clock.sleepers == 0 { await Task.yield() }
        #expect(bed.engine.refreshesInFlight == 2)
        bed.clock.advance(bySeconds: 1)
        #expect(await #expect(throws: BrokerError.self) { try await late.value }?.reason == .answerPending)
        gate.open()
        while bed.engine.refreshesInFlight > 0 || bed.clock.sleepers > 0 { await Task.yield() }
        #expect(engine.memory.cached(first) != nil)
        #expect(engine.memory.cached(second) != nil)
    }
}

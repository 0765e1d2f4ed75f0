import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// A provider takes longer than callers may wait.
@Suite("Refreshes that are late")
struct LateFlightTests {
    private static let apps = (1...3).map { Sample.app("app-\($0)", client: "client-\($0)") }

    /// A request of an app whose provider has been asked, while the watch for late flights runs.
    private struct Waiting {
        let answer: Task<AcquiredToken, any Error>

        /// - Parameter count: the number of refreshes that the provider has seen then.
        static func begin(_ app: AppRegistration, _ count: Int, at bed: EngineBed) async throws -> Waiting {
            let (engine, request) = (bed.engine, bed.silent(app) { $0.forceRefresh = true })
            let answer = Task { try await engine.acquireSilent(request) }
            try await bed.provider.waitForRefreshes(count)
            try await bed.clock.waitForSleepers()
            return Waiting(answer: answer)
        }

        var isTold: Bool {
            get async { await #expect(throws: BrokerError.self) { try await answer.value }?.reason == .answerPending }
        }
    }

    private static func signedIn() async throws -> EngineBed {
        let bed = try await EngineBed()
        for app in apps { try await bed.signIn("alice", app) }
        return bed
    }

    @Test("each flight is late at its own time, also one that begins when all others have been answered")
    func lateOneByOne() async throws {
        let bed = try await Self.signedIn()
        let gate = bed.holdTokens()
        let first = try await Waiting.begin(Self.apps[0], 1, at: bed)
        bed.clock.advance(bySeconds: 20)
        let second = try await Waiting.begin(Self.apps[1], 2, at: bed)
        bed.clock.advance(bySeconds: 10)
        #expect(await first.isTold)
        try await bed.clock.waitForSleepers()
        bed.clock.advance(bySeconds: 20)
        #expect(await second.isTold)
        try await bed.clock.waitForNoSleepers()
        #expect(bed.engine.refreshesInFlight == 2)
        let third = try await Waiting.begin(Self.apps[2], 3, at: bed)
        bed.clock.advance(bySeconds: 30)
        #expect(await third.isTold)
        gate.open()
        await bed.engine.drain()
        #expect(bed.engine.refreshesInFlight == 0)
        for app in Self.apps { #expect(bed.engine.cached(bed.silent(app)) != nil) }
    }

    @Test("the watch for late flights ends with the last one, and starts again for the next")
    func again() async throws {
        let bed = try await Self.signedIn()
        let gate = bed.holdTokens()
        let punctual = try await Waiting.begin(Self.apps[0], 1, at: bed)
        gate.open()
        _ = try await punctual.answer.value
        try await bed.clock.waitForNoSleepers()
        let next = bed.holdTokens()
        let late = try await Waiting.begin(Self.apps[1], 2, at: bed)
        bed.clock.advance(bySeconds: 30)
        #expect(await late.isTold)
        next.open()
        await bed.engine.drain()
        #expect(bed.engine.refreshesInFlight == 0)
    }

    @Test("a request that waits for another one's refresh begins none after its caller left")
    func waitingCallerLeaves() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice", Sample.app(), ["mail.read", "calendar"])
        bed.clock.advance(bySeconds: 4000)
        let gate = bed.holdTokens()
        let first = Task { try await bed.engine.acquireSilent(bed.silent(Sample.app(), ["mail.read"])) }
        try await bed.provider.waitForRefreshes()
        let second = Task.immediate {
            try await bed.engine.acquireSilent(bed.silent(Sample.app(), ["calendar"]) { $0.forceRefresh = true })
        }
        second.cancel()
        #expect(await #expect(throws: BrokerError.self) { try await second.value }?.kind == .userCanceled)
        gate.open()
        _ = try await first.value
        await bed.engine.drain()
        #expect(bed.provider.refreshes == ["rt-1"])
    }
}

import BrokerHost
import BrokerModel
import BrokerTestSupport
import Synchronization
import Testing

@Suite("Memory that is given back")
struct MemoryKeeperTests {
    /// What a keeper sees and does, with a clock that the test moves.
    private final class Scene: Sendable {
        let clock = ManualClock()
        let gate: LockGate
        let released = Atomic<Int>(0)
        let forgotten = Atomic<Int>(0)

        init() {
            gate = LockGate(clock: clock)
            gate.open()
        }

        func ask() {
            #expect(gate.enter())
            gate.leave()
        }

        func keep() -> Task<Void, Never> {
            let keeper = MemoryKeeper(
                uses: { self.gate.uses }, clock: clock,
                forget: { self.forgotten.add(1, ordering: .relaxed) },
                release: { self.released.add(1, ordering: .relaxed) })
            return Task { await keeper.run() }
        }

        /// - Returns: how often memory was given back by the time that the keeper sleeps again.
        func quiet(_ times: Int = 1) async throws -> Int {
            for _ in 0..<times {
                try await clock.waitForSleepers()
                clock.advance(bySeconds: MemoryKeeper.pause.components.seconds)
            }
            try await clock.waitForSleepers()
            return released.load(ordering: .relaxed)
        }
    }

    @Test(
        "it is given back when nothing was asked for: after the start, after each time of work, and once more"
    )
    func twice() async throws {
        let scene = Scene()
        let keeping = scene.keep()
        #expect(try await scene.quiet() == 1)
        #expect(try await scene.quiet(3) == 2)
        scene.ask()
        #expect(try await scene.quiet() == 2, "it was used in this time")
        #expect(try await scene.quiet() == 3)
        #expect(try await scene.quiet(3) == 4)
        #expect(scene.forgotten.load(ordering: .relaxed) == 9, "what is there for a moment goes each time")
        keeping.cancel()
        await keeping.value
    }

    @Test("what goes on after its callers have gone gives memory back when it is over")
    func late() async throws {
        let scene = Scene()
        let keeping = scene.keep()
        scene.gate.join()
        #expect(try await scene.quiet(3) == 2)
        scene.gate.leave()
        #expect(try await scene.quiet(3) == 4)
        keeping.cancel()
        await keeping.value
    }

    @Test("what the heap no longer needs and the program's own pages go, and the program goes on")
    func release() async throws {
        try await withTestBed { bed in
            let probe = try bed.probe("memory")
            #expect(await probe.exitStatus() == .exited(0))
            let sizes = probe.outputText.split(separator: "\n").compactMap { Int($0) }
            try #require(sizes.count == 3, "\(probe.outputText)")
            let (full, freed, released) = (sizes[0], sizes[1], sizes[2])
            #expect(freed > full / 2, "the heap keeps what is free, or this shows nothing")
            #expect(released < full / 4)
        }
    }
}

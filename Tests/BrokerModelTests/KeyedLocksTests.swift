import BrokerModel
import BrokerTestSupport
import Synchronization
import Testing

@Suite("Locks by key")
struct KeyedLocksTests {
    private final class Work: Sendable {
        let inside = Mutex(0)
        let done = Mutex(0)
    }

    @Test("work with one key never overlaps, and all of it is done")
    func exclusion() async {
        let locks = KeyedLocks<Int>()
        let work = Work()
        await withTaskGroup { group in
            for number in 0..<200 {
                group.addTask {
                    await locks.holding(0) {
                        #expect(
                            work.inside.withLock {
                                $0 += 1; return $0
                            } == 1, "\(number)")
                        await Task {}.value
                        work.inside.withLock { $0 -= 1 }
                        work.done.withLock { $0 += 1 }
                    }
                }
            }
        }
        #expect(work.done.withLock(\.self) == 200)
    }

    @Test("work with another key does not wait")
    func otherKeys() async {
        let locks = KeyedLocks<Int>()
        let gate = Gate()
        async let first: Void = locks.holding(1) { await gate.wait() }
        await locks.holding(2) { gate.open() }
        await first
    }

    @Test("work that fails lets the next begin")
    func failure() async {
        struct Failure: Error {}
        let locks = KeyedLocks<Int>()
        await #expect(throws: Failure.self) { try await locks.holding(1) { throw Failure() } }
        #expect(await locks.holding(1) { true })
    }
}

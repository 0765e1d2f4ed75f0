import BrokerSystem
import BrokerTestSupport
import Glibc
import Testing

@Suite("Threads in addition to those of tasks")
struct DetachedThreadTests {
    /// The findings of a body on its thread.
    private struct Found: Sendable {
        var isOther: Bool
        var blocked: Int
    }

    private final class Held: Sendable {
        private let released: Watched<Bool>
        init(_ released: Watched<Bool>) { self.released = released }
        deinit { released.withLock { $0 = true } }
    }

    @Test("a body runs on another thread, which takes no signals, and the caller's signals stay as they were")
    func signals() async throws {
        let done = Watched<Found?>(nil)
        let (caller, before) = (pthread_self(), Self.blocked())
        let code = DetachedThread.start {
            let found = Found(isOther: pthread_self() != caller, blocked: Self.blocked())
            done.withLock { $0 = found }
        }
        #expect(code == 0 && Self.blocked() == before)
        let found = try await done.first { $0 }
        // All but the two that cannot be blocked, and the C library's own.
        #expect(found.isOther && found.blocked >= 60)
    }

    @Test("a body that blocks delays neither its starter nor other bodies")
    func blocking() async throws {
        let (gate, done) = (Gate(), Watched(0))
        for _ in 0..<20 {
            let code = DetachedThread.start {
                gate.block()
                done.withLock { $0 += 1 }
            }
            #expect(code == 0)
        }
        try await gate.waitForCallers(20)
        gate.open()
        try await done.until { $0 == 20 }
    }

    @Test("the values that a body holds are released when it has returned")
    func release() async throws {
        let released = Watched(false)
        do {
            let held = Held(released)
            let code = DetachedThread.start { withExtendedLifetime(held) {} }
            #expect(code == 0)
        }
        try await released.until { $0 }
    }

    /// The number of signals that the calling thread blocks.
    private static func blocked() -> Int {
        var signals = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &signals)
        return (1...64).filter { sigismember(&signals, Int32($0)) == 1 }.count
    }
}

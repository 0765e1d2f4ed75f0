import BrokerHost
import BrokerTestSupport
import Foundation
import Testing

@Suite("The machine's clocks and random generator")
struct ClockAndRandomTests {
    @Test("a wait longer than a slice is not over early")
    func slices() async throws {
        let clock = SystemClock(slice: .milliseconds(2))
        let start = clock.uptime
        try await clock.sleep(for: .milliseconds(15))
        #expect(clock.uptime - start >= .milliseconds(15))
    }

    @Test("a wait ends with its task")
    func cancellation() async throws {
        let waiting = Task { try await SystemClock().sleep(for: .seconds(3600)) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test("a wait of zero length still notices that its task was canceled")
    func cancelledAlready() async throws {
        let gate = Gate()
        let waiting = Task {
            await gate.wait()
            try await SystemClock().sleep(for: .zero)
        }
        waiting.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test("the wall clock counts seconds since 1970")
    func wallClock() {
        let before = Int64(time(nil))
        let now = SystemClock().now
        // time(2) may lag behind the clock by a tick.
        #expect(before <= now && now <= Int64(time(nil)) + 1)
    }

    @Test("random bytes come in any number and do not repeat", arguments: [0, 1, 7, 8, 32, 1000])
    func random(count: Int) {
        let random = SystemRandom()
        #expect(random.bytes(count).count == count)
        if count >= 32 { #expect(random.bytes(count) != random.bytes(count)) }
    }
}

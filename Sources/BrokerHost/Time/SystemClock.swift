import BrokerModel
import BrokerValues
import Glibc

/// The machine's clocks.
package struct SystemClock: BrokerClock {
    /// The longest single sleep. The language does not promise that its timers count the time a machine was suspended, so a wait
    /// is cut into slices and each one checks the boot-time clock again: after a resume, a wait that is over ends at most this
    /// much late.
    private let slice: Duration

    package init(slice: Duration = .seconds(15)) { self.slice = slice }

    package var now: NumericDate { Int64(read(CLOCK_REALTIME).tv_sec) }

    package var uptime: Duration {
        let time = read(CLOCK_BOOTTIME)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    package func sleep(for duration: Duration) async throws {
        let deadline = uptime + duration
        while true {
            let left = deadline - uptime
            guard left > .zero else { return try Task.checkCancellation() }
            try await Task.sleep(for: min(left, slice))
        }
    }

    private func read(_ clock: Int32) -> timespec {
        var time = timespec()
        clock_gettime(clock, &time)
        return time
    }
}

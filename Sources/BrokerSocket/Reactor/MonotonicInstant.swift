import Glibc

/// A time on the kernel's clock that stops while the machine sleeps (CLOCK_MONOTONIC).
///
/// The same as `SuspendingClock.Instant`. But the layout of that type is known to the library only, so each use has to look it up
/// at run time: each request did so thirty times.
struct MonotonicInstant: Comparable, Sendable {
    /// Since the clock began.
    let nanoseconds: Int64

    private init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    static var now: MonotonicInstant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    var sinceBoot: Duration { .nanoseconds(nanoseconds) }

    static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The sum, clamped to the range of the type.
    static func + (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
        let (seconds, attoseconds) = duration.components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooLate) = instant.nanoseconds.addingReportingOverflow(whole)
        let (all, isBeyond) = sum.addingReportingOverflow(attoseconds / 1_000_000_000)
        guard !isTooLong, !isTooLate, !isBeyond else {
            return MonotonicInstant(nanoseconds: duration < .zero ? .min : .max)
        }
        return MonotonicInstant(nanoseconds: all)
    }

    static func - (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant { instant + (.zero - duration) }

    static func - (later: MonotonicInstant, earlier: MonotonicInstant) -> Duration {
        .nanoseconds(later.nanoseconds - earlier.nanoseconds)
    }
}

/// Names something that is to be done later.
package struct ReactorTimer: Hashable, Sendable {
    fileprivate let number: UInt64
}

/// What is to be done later. There are few: nothing waits for a time while all goes well.
struct ReactorTimers {
    typealias Instant = SuspendingClock.Instant

    private var entries: [ReactorTimer: (due: Instant, action: () -> Void)] = [:]
    /// None is due before; one that was may be cancelled by now.
    private var earliest: Instant?
    private var lastNumber: UInt64 = 0

    mutating func add(at due: Instant, _ action: @escaping () -> Void) -> ReactorTimer {
        lastNumber += 1
        let timer = ReactorTimer(number: lastNumber)
        entries[timer] = (due, action)
        earliest = min(earliest ?? due, due)
        return timer
    }

    mutating func cancel(_ timer: ReactorTimer) {
        entries[timer] = nil
        if entries.isEmpty { earliest = nil }
    }

    /// Until something may be due, rounded up; -1 when there is nothing.
    func milliseconds() -> Int32 {
        guard let earliest else { return -1 }
        let wait = Instant.now.duration(to: earliest)
        guard wait > .zero else { return 0 }
        let parts = wait.components
        let milliseconds = parts.seconds.multipliedReportingOverflow(by: 1000)
        guard !milliseconds.overflow else { return Int32.max }
        let sum = milliseconds.partialValue.addingReportingOverflow(parts.attoseconds / 1_000_000_000_000_000 + 1)
        return sum.overflow ? Int32.max : Int32(clamping: sum.partialValue)
    }

    /// The one that is due first, if one is due: it may cancel the next.
    mutating func takeDue(at now: Instant) -> (() -> Void)? {
        guard let earliest, earliest <= now else { return nil }
        let first = entries.min { ($0.value.due, $0.key.number) < ($1.value.due, $1.key.number) }
        self.earliest = first?.value.due
        guard let first, first.value.due <= now else { return nil }
        entries[first.key] = nil
        return first.value.action
    }
}

/// Identifies an action scheduled for later.
package struct ReactorTimer: Hashable, Sendable {
    fileprivate let number: UInt64
}

/// The actions scheduled for later. There are few: in normal operation nothing waits for a time.
struct ReactorTimers {
    private var entries: [ReactorTimer: (due: MonotonicInstant, action: () -> Void)] = [:]
    /// No timer is due before; the one that was may be canceled by now.
    private(set) var earliest: MonotonicInstant?
    private var lastNumber: UInt64 = 0

    mutating func add(at due: MonotonicInstant, _ action: @escaping () -> Void) -> ReactorTimer {
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

    /// Returns the timer that is due first, if any: it may cancel the next.
    mutating func takeDue(at now: MonotonicInstant) -> (() -> Void)? {
        guard let earliest, earliest <= now else { return nil }
        let first = entries.min { ($0.value.due, $0.key.number) < ($1.value.due, $1.key.number) }
        self.earliest = first?.value.due
        guard let first, first.value.due <= now else { return nil }
        entries[first.key] = nil
        return first.value.action
    }
}

import Synchronization

/// Limits repeated messages. The same message is reported once in an interval, and the number of different messages of one owner
/// is limited: no owner can fill the journal.
package final class Repeats<Owner: Hashable & Sendable, Key: Hashable & Sendable>: Sendable {
    private struct Report {
        let owner: Owner
        var at: Duration
        /// How often the same message occurred since.
        var repetitions = 0
    }

    private struct State {
        var reports: [Key: Report] = [:]
        var ofOwner: [Owner: Int] = [:]
        var lastSweep = Duration.zero

        func hasRoom(for owner: Owner) -> Bool {
            reports.count < Repeats.maximumReports && ofOwner[owner, default: 0] < Repeats.maximumOfOne
        }

        /// Removes entries that may be reported again, at most once a second: it scans all of them.
        mutating func sweep(at now: Duration) {
            guard now - lastSweep >= .seconds(1) else { return }
            lastSweep = now
            reports = reports.filter { now - $0.value.at < Repeats.interval }
            ofOwner = reports.values.reduce(into: [:]) { $0[$1.owner, default: 0] += 1 }
        }
    }

    /// The same message is reported once in this time.
    package static var interval: Duration { .seconds(60) }
    /// The number of different messages of one owner within ``interval``.
    package static var maximumOfOne: Int { 16 }
    /// The number of different messages of all owners within ``interval``.
    private static var maximumReports: Int { 1_024 }

    private let state = Mutex(State())

    package init() {}

    /// Whether to report a message.
    ///
    /// - Parameter now: the time of a monotonic clock.
    /// - Returns: `nil` if it is not to be reported; else how often it has occurred since it was last reported.
    package func tell(_ key: Key, of owner: Owner, at now: Duration) -> Int? {
        state.withLock { state -> Int? in
            if let last = state.reports[key] {
                guard now - last.at >= Self.interval else {
                    state.reports[key]?.repetitions += 1
                    return nil
                }
                state.reports[key] = Report(owner: owner, at: now)
                return last.repetitions
            }
            if !state.hasRoom(for: owner) { state.sweep(at: now) }
            guard state.hasRoom(for: owner) else { return nil }
            state.reports[key] = Report(owner: owner, at: now)
            state.ofOwner[owner, default: 0] += 1
            return 0
        }
    }
}

import Synchronization

/// Limits repeated messages. The same message is reported once in an interval, and the number of different messages of
/// one part of an owner, such as a program of a user, is limited. Owners have shares (``FairQuota``): none can fill the
/// journal, or keep the messages of others out of it.
package final class Repeats<Owner: Hashable & Sendable, Part: Hashable & Sendable, Key: Hashable & Sendable>: Sendable {
    private struct Report {
        let part: Part
        let owner: Owner
        var at: Duration
        /// How often the same message occurred since.
        var repetitions = 0
    }

    private struct State {
        var reports: [Key: Report] = [:]
        var places = FairQuota<Owner, Part>(limit: Repeats.maximumReports, ofPart: Repeats.maximumOfOne)
        var lastSweep = Duration.zero

        /// Removes entries that may be reported again, at most once a second: it scans all of them.
        mutating func sweep(at now: Duration) {
            guard now - lastSweep >= .seconds(1) else { return }
            lastSweep = now
            for (key, report) in reports where now - report.at >= Repeats.interval {
                reports[key] = nil
                places.leave(for: report.part, of: report.owner)
            }
        }
    }

    /// The same message is reported once in this time.
    package static var interval: Duration { .seconds(60) }
    /// The number of different messages of one part within ``interval``.
    package static var maximumOfOne: Int { 16 }
    /// The number of different messages of all owners within ``interval``.
    private static var maximumReports: Int { 1_024 }

    private let state = Mutex(State())

    package init() {}

    /// Whether to report a message.
    ///
    /// - Parameter now: the time of a monotonic clock.
    /// - Returns: `nil` if it is not to be reported; else how often it has occurred since it was last reported.
    package func tell(_ key: Key, by part: Part, of owner: Owner, at now: Duration) -> Int? {
        state.withLock { state -> Int? in
            if let last = state.reports[key] {
                guard now - last.at >= Self.interval else {
                    state.reports[key]?.repetitions += 1
                    return nil
                }
                state.reports[key]?.at = now
                state.reports[key]?.repetitions = 0
                return last.repetitions
            }
            if !state.places.take(for: part, of: owner) {
                state.sweep(at: now)
                guard state.places.take(for: part, of: owner) else { return nil }
            }
            state.reports[key] = Report(part: part, owner: owner, at: now)
            return 0
        }
    }
}

extension Repeats where Part == Owner {
    /// Whether to report a message of an owner that is not divided.
    package func tell(_ key: Key, of owner: Owner, at now: Duration) -> Int? {
        tell(key, by: owner, of: owner, at: now)
    }
}

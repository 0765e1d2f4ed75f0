/// The delay before a caller's next passphrase attempt. Pure: the time is a parameter.
///
/// Each attempt is counted as wrong when it begins, so that concurrent ones delay each other too. Delays are per caller: a program
/// that guesses does not keep another one from unlocking.
package struct UnlockAttempts: Sendable {
    package static let longestPause = Duration.seconds(60)
    static let rememberedCallers = 64

    private struct Record {
        var failures = 0
        var next = Duration.zero
    }

    private var records: [String: Record] = [:]

    package init() {}

    /// - Parameter caller: the caller's name in the access rules.
    /// - Returns: the delay of this attempt; `nil` if it would be too long to wait for.
    package mutating func begin(_ caller: String, at now: Duration) -> Duration? {
        let caller = place(of: caller, at: now)
        var record = records[caller] ?? Record()
        let start = max(now, record.next)
        guard start - now <= Self.longestPause else { return nil }
        record.next = start + Self.pause(after: record.failures + 1)
        record.failures += 1
        records[caller] = record
        return start - now
    }

    package mutating func succeeded() { records = [:] }

    /// One second, two, four, … up to a minute.
    private static func pause(after failures: Int) -> Duration {
        min(.seconds(1 << min(failures - 1, 6)), longestPause)
    }

    /// The name under which a caller's attempts are counted. Callers beyond ``rememberedCallers`` share one, so that a new name
    /// does not remove a delay.
    private mutating func place(of caller: String, at now: Duration) -> String {
        guard records[caller] == nil, records.count >= Self.rememberedCallers else { return caller }
        records = records.filter { $0.value.next > now }
        return records.count < Self.rememberedCallers ? caller : ""
    }
}

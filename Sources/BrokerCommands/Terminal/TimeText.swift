import BrokerValues
import Glibc

/// Times in words.
package enum TimeText {
    private static let units: [(name: String, length: Int64)] = [
        ("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1),
    ]

    /// The two largest units of a span: "1 hour 5 minutes". Seconds next to minutes, minutes next to days and hours next to a
    /// month are irrelevant to people and rounded, so that an hour less a moment is "1 hour".
    ///
    /// - Parameter seconds: negative counts as 0.
    package static func span(_ seconds: Int64) -> String {
        let seconds = rounded(max(0, seconds))
        guard let largest = units.firstIndex(where: { seconds >= $0.length }) else { return "0 seconds" }
        let first = count(seconds / units[largest].length, units[largest].name)
        guard largest + 1 < units.count else { return first }
        let next = units[largest + 1]
        let rest = seconds % units[largest].length / next.length
        return rest == 0 ? first : first + " " + count(rest, next.name)
    }

    /// Rounded to the smallest unit shown.
    private static func rounded(_ seconds: Int64) -> Int64 {
        let unit: Int64 =
            switch seconds {
            case ..<60: 1
            case ..<86_400: 60
            case ..<(30 * 86_400): 3_600
            default: 86_400
            }
        let below = seconds - seconds % unit
        guard seconds - below >= unit - unit / 2 else { return below }
        let (above, overflow) = below.addingReportingOverflow(unit)
        return overflow ? below : above
    }

    /// "in 52 minutes", "now", "3 hours ago".
    package static func relative(_ time: NumericDate, to now: NumericDate) -> String {
        let (difference, overflow) = time.subtractingReportingOverflow(now)
        guard !overflow else { return time > now ? "never" : "long ago" }
        if difference == 0 { return "now" }
        return difference > 0 ? "in " + span(difference) : span(difference == .min ? .max : -difference) + " ago"
    }

    /// The local time of day: "09:05:00".
    package static func clock(_ time: NumericDate) -> String {
        let parts = parts(of: time)
        return [parts.tm_hour, parts.tm_min, parts.tm_sec].map(two).joined(separator: ":")
    }

    /// The local date and time of day: "2026-11-22 09:05:00".
    package static func local(_ time: NumericDate) -> String {
        let parts = parts(of: time)
        let day = [String(parts.tm_year + 1900), two(parts.tm_mon + 1), two(parts.tm_mday)].joined(separator: "-")
        return day + " " + clock(time)
    }

    private static func parts(of time: NumericDate) -> tm {
        var (seconds, parts) = (time_t(time), tm())
        localtime_r(&seconds, &parts)
        return parts
    }

    private static func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }

    private static func count(_ number: Int64, _ unit: String) -> String {
        "\(number) \(unit)\(number == 1 ? "" : "s")"
    }
}

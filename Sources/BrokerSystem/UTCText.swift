import Glibc

/// A time in UTC: `2026-01-02T03:04:05Z` (RFC 3339).
///
/// - Parameter time: seconds since 1970. Times after the year 9999, for which there is no such text, become its last second;
///   times before 1970 become its first.
package func utcText(_ time: Int64) -> String {
    var (seconds, parts) = (time_t(min(max(time, 0), 253_402_300_799)), tm())
    gmtime_r(&seconds, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
}

import BrokerValues

/// The three forms of a date in HTTP (RFC 9110, section 5.6.7).
enum HTTPDate {
    /// - Returns: seconds since 1970, or nil when it is no such date.
    static func parse(_ text: String) -> NumericDate? {
        let words = text.split { $0 == " " || $0 == "," || $0 == "-" }
        switch words.count {
        case 6 where words[5] == "GMT":
            // Sun, 06 Nov 1994 08:49:37 GMT · Sunday, 06-Nov-94 08:49:37 GMT
            return date(day: words[1], month: words[2], year: words[3], time: words[4])
        case 5:
            // Sun Nov  6 08:49:37 1994
            return date(day: words[2], month: words[1], year: words[4], time: words[3])
        default:
            return nil
        }
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func date(day: Substring, month: Substring, year: Substring, time: Substring) -> NumericDate? {
        let clock = time.split(separator: ":").compactMap { Int64($0) }
        guard let day = Int64(day), (1...31).contains(day), let month = months.firstIndex(of: String(month)),
            var year = Int64(year), (0...9999).contains(year), clock.count == 3,
            (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        if year < 100 { year += year < 70 ? 2000 : 1900 }
        return days(year: year, month: Int64(month) + 1, day: day) * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
    }

    /// Days since 1970-01-01 in the Gregorian calendar; years are counted from March, so that a leap day comes last.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let monthFromMarch = (month + 9) % 12
        return 365 * year + year / 4 - year / 100 + year / 400 + (153 * monthFromMarch + 2) / 5 + day - 1 - 719_468
    }
}

enum RetryAfter {
    /// Seconds to wait (RFC 9110, section 10.2.3): a number, or a date in relation to the broker's clock. At most a day.
    static func seconds(_ value: String?, now: NumericDate) -> Int? {
        guard let value = value?.filter({ $0 != "\t" }), !value.isEmpty else { return nil }
        let seconds: Int64
        if value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            seconds = Int64(value) ?? .max
        } else if let date = HTTPDate.parse(value) {
            seconds = date - now
        } else {
            return nil
        }
        return Int(min(max(seconds, 0), 86_400))
    }
}

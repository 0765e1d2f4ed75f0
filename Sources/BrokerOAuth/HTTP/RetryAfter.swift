import BrokerValues
import CCurl

enum RetryAfter {
    /// Seconds to wait (RFC 9110, section 10.2.3): a number, or a date in relation to the broker's clock. At most a day.
    static func seconds(_ value: String?, now: NumericDate) -> Int? {
        guard let value = value?.filter({ $0 != "\t" }), !value.isEmpty else { return nil }
        let seconds: Int64
        if value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            seconds = Int64(value) ?? .max
        } else {
            // The three forms of RFC 9110, section 5.6.7, and some more; -1 means that it is not a date.
            let date = NumericDate(curl_getdate(value, nil))
            guard date != -1 else { return nil }
            seconds = date - now
        }
        return Int(min(max(seconds, 0), 86_400))
    }
}

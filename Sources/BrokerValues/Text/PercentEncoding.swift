/// Percent-encoding (RFC 3986, section 2.1) in queries and form bodies.
package enum PercentEncoding {
    /// Escapes everything except RFC 3986's unreserved characters. A space becomes `%20` in form bodies, too: form decoders and
    /// URI decoders agree on that, but not on `+`.
    package static func encode(_ text: String) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count * 3 / 2)
        for byte in text.utf8 { encode(byte) { result.append($0) } }
        return String(decoding: result, as: UTF8.self)
    }

    /// Encodes one byte, for text that must not be in a `String`.
    package static func encode(_ byte: UInt8, spaceAsPlus: Bool = false, to sink: (UInt8) -> Void) {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            sink(byte)
        case UInt8(ascii: " ") where spaceAsPlus:
            sink(UInt8(ascii: "+"))
        default:
            sink(UInt8(ascii: "%"))
            sink(hexDigits[Int(byte >> 4)])
            sink(hexDigits[Int(byte & 15)])
        }
    }

    /// A URL with parameters added to its query. An existing query stays (RFC 6749, section 3.1).
    package static func url(_ url: String, adding parameters: [(String, String)]) -> String {
        let query = parameters.map { "\(encode($0))=\(encode($1))" }.joined(separator: "&")
        if query.isEmpty { return url }
        if !url.contains("?") { return "\(url)?\(query)" }
        return url.hasSuffix("?") || url.hasSuffix("&") ? url + query : "\(url)&\(query)"
    }

    /// Decodes a name or a value of an `application/x-www-form-urlencoded` text.
    ///
    /// It is lenient: a percent sign without two hex digits stays as it is, and bytes that are not UTF-8 become U+FFFD.
    ///
    /// - Parameter plusIsSpace: false for texts that only escape with percent signs.
    package static func decodeForm(_ bytes: Substring.UTF8View, plusIsSpace: Bool = true) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+") where plusIsSpace:
                result.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2).compactMap(hexValue)
                if digits.count == 2 {
                    result.append(digits[0] << 4 | digits[1])
                    rest = rest.dropFirst(2)
                } else {
                    result.append(byte)
                }
            default:
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)
}

/// The names and values of a query or of an `application/x-www-form-urlencoded` body.
package struct FormValues: Sendable {
    private var values: [String: [String]] = [:]

    package init() {}

    package init(urlEncoded text: some StringProtocol) {
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = percentDecoded(parts[0]), let value = percentDecoded(parts.count > 1 ? parts[1] : "")
            else {
                continue
            }
            values[name, default: []].append(value)
        }
    }

    /// The value of a name that occurs once and is not empty: parameters without a value count as omitted
    /// (RFC 6749, section 3.1).
    package subscript(name: String) -> String? {
        guard let found = values[name], found.count == 1, let value = found.first, !value.isEmpty else { return nil }
        return value
    }

    /// All pairs, ordered by name.
    var pairs: [(String, String?)] { values.sorted { $0.key < $1.key }.flatMap { name, all in all.map { (name, $0) } } }

    package func all(_ name: String) -> [String] { values[name] ?? [] }

    /// Names that occur more than once, which OAuth forbids.
    package var repeated: [String] { values.filter { $0.value.count > 1 }.keys.sorted() }

    /// The first of them except `resource`, which may occur more than once (RFC 8707, section 2).
    var repeatedByMistake: String? { repeated.first { $0 != "resource" } }

    /// A copy without one name.
    func without(_ name: String) -> FormValues {
        var others = self
        others.values[name] = nil
        return others
    }

    mutating func set(_ name: String, to value: String) { values[name] = [value] }
}

/// Decodes `+` and `%XX`; `nil` if the escapes or the UTF-8 are invalid.
func percentDecoded(_ text: some StringProtocol) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
        switch byte {
        case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
        case UInt8(ascii: "%"):
            guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        default: bytes.append(byte)
        }
    }
    return String(validating: bytes, as: UTF8.self)
}

/// Escapes everything but the unreserved characters of RFC 3986.
package func percentEncoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF")
    return text.utf8.reduce(into: "") { result, byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            result.unicodeScalars.append(Unicode.Scalar(byte))
        default:
            result += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
        }
    }
}

/// - Parameters:
///   - uri: may already contain a query, which is kept (RFC 6749, section 3.1.2).
///   - values: appended in this order; those without a value are omitted.
func appendQuery(_ values: [(String, String?)], to uri: String) -> String {
    let query = values.compactMap { name, value in value.map { "\(name)=\(percentEncoded($0))" } }
    guard !query.isEmpty else { return uri }
    return uri + (uri.contains("?") ? "&" : "?") + query.joined(separator: "&")
}

private func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}

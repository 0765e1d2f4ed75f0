extension RedirectParameters {
    /// Decodes a query as `application/x-www-form-urlencoded` (RFC 6749, section 4.1.2 and appendix B).
    ///
    /// Lenient, because whoever opens the loopback port can send anything: a percent sign without two hex digits stays
    /// as it is, bytes that are no UTF-8 become U+FFFD, a name without `=` has an empty value. A name that comes twice
    /// keeps its first value and is listed in ``repeated``.
    ///
    /// - Parameter query: without the leading `?`.
    package init(query: Substring) {
        var values: [String: String] = [:]
        var repeated: Set<String> = []
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = Self.decoded(pair[..<equals])
            let value = Self.decoded(pair[equals...].dropFirst())
            if values[name] == nil { values[name] = value } else { repeated.insert(name) }
        }
        self.init(values: values, repeated: repeated)
    }

    /// Takes the query of a whole redirect URL, as a URL handler delivers it or a person pastes it.
    ///
    /// The fragment is ignored: the code flow puts nothing there, and browsers add to it.
    package init(redirectURL: Substring) {
        let url = redirectURL.utf8.prefix { $0 != UInt8(ascii: "#") }
        let query = url.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        self.init(query: Substring(query))
    }

    private static func decoded(_ bytes: Substring.UTF8View) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"):
                result.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2).compactMap(hexDigit)
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

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

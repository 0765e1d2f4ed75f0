import BrokerValues

extension RedirectParameters {
    /// Decodes a query as `application/x-www-form-urlencoded` (RFC 6749, section 4.1.2 and appendix B).
    ///
    /// Lenient, because any program that opens the loopback port can send anything (see ``PercentEncoding/decodeForm(_:)``): a
    /// name without `=` has an empty value. A repeated name keeps its first value and is listed in ``repeated``.
    ///
    /// - Parameter query: without the leading `?`.
    package init(query: Substring) {
        var values: [String: String] = [:]
        var repeated: Set<String> = []
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = PercentEncoding.decodeForm(pair[..<equals])
            let value = PercentEncoding.decodeForm(pair[equals...].dropFirst())
            if values[name] == nil { values[name] = value } else { repeated.insert(name) }
        }
        self.init(values: values, repeated: repeated)
    }

    /// Parses the query of a redirect URL that a URL handler delivers or a user pastes.
    ///
    /// Users paste what their terminal or browser shows: in quotes or angle brackets, without `http://`, or only the part after
    /// the question mark. The fragment is ignored: the code flow does not use it, and browsers add to it.
    package init(redirectURL: Substring) {
        let text = Self.withoutQuotes(redirectURL.utf8.drop(while: Self.isBlank))
        let url = text.prefix { $0 != UInt8(ascii: "#") }
        guard let mark = url.firstIndex(of: UInt8(ascii: "?")) else {
            // A query has parameters, and a URL without a query contains no response.
            let isQuery = url.contains(UInt8(ascii: "=")) && url.contains(UInt8(ascii: "&"))
            self.init(query: isQuery ? Substring(url) : "")
            address = isQuery ? nil : Self.whole(url)
            return
        }
        self.init(query: Substring(url[mark...].dropFirst()))
        address = mark == url.startIndex ? nil : Self.whole(url[..<mark])
    }

    private static func withoutQuotes(_ text: Substring.UTF8View) -> Substring.UTF8View {
        var text = text
        while let last = text.last, isBlank(last) { text = text.dropLast() }
        let pairs: [(UInt8, UInt8)] = [
            (UInt8(ascii: "\""), UInt8(ascii: "\"")), (UInt8(ascii: "'"), UInt8(ascii: "'")),
            (UInt8(ascii: "<"), UInt8(ascii: ">")),
        ]
        guard text.count > 1, pairs.contains(where: { $0.0 == text.first && $0.1 == text.last }) else { return text }
        return text.dropFirst().dropLast()
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte <= UInt8(ascii: " ") }

    /// Browsers leave out `http://` when they show or copy an address. A host name is followed by a path, or by a colon and its
    /// port; any other colon ends a scheme.
    private static func whole(_ address: Substring.UTF8View) -> String {
        let colon = address.prefix { $0 != UInt8(ascii: "/") }.firstIndex(of: UInt8(ascii: ":"))
        let afterColon = colon.flatMap { address[$0...].dropFirst().first }
        let isPort = afterColon.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
        let hasScheme = colon != nil && !isPort
        return (hasScheme ? "" : "http://") + String(Substring(address))
    }
}

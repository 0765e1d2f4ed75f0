import BrokerValues

extension RedirectParameters {
    /// Decodes a query as `application/x-www-form-urlencoded` (RFC 6749, section 4.1.2 and appendix B).
    ///
    /// Lenient, because whoever opens the loopback port can send anything (see ``PercentEncoding/decodeForm(_:)``): a name
    /// without `=` has an empty value. A name that comes twice keeps its first value and is listed in ``repeated``.
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

    /// Takes the query of a whole redirect URL, as a URL handler delivers it or a person pastes it.
    ///
    /// The fragment is ignored: the code flow puts nothing there, and browsers add to it.
    package init(redirectURL: Substring) {
        let url = redirectURL.utf8.prefix { $0 != UInt8(ascii: "#") }
        let query = url.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        self.init(query: Substring(query))
        address = String(Substring(url.prefix { $0 != UInt8(ascii: "?") }))
    }
}

import BrokerValues

/// The hosts that are reached without a proxy (`NO_PROXY`), as Go, Python and curl agree, or as the most lenient of them
/// reads it: entries are separated by commas or spaces.
///
/// - `*`: every host.
/// - `example.com`, `.example.com`: that host, and all below it. `*.example.com`: only those below it.
/// - `192.0.2.1`, `2001:db8::1`: that address, if the URL contains it. `192.0.2.0/24`: every address of that network.
/// - `example.com:8443`, `[2001:db8::1]:8443`: that port only.
package struct ProxyExceptions: Sendable {
    private struct Entry {
        var host: Substring
        var port: UInt16?
    }

    private let words: [Substring]

    package init(_ text: String) {
        words = text.lowercased().split { $0 == "," || $0.isWhitespace }
    }

    package func cover(_ url: WebURL) -> Bool {
        guard !words.isEmpty else { return false }
        let host = Self.plain(url.host[...])
        let (address, port) = (IPAddress(String(host)), url.port ?? (url.isSecure ? 443 : 80))
        return words.contains { word in
            if word == "*" { return true }
            if let network = IPAddress.Network(word) { return address.map { network.holds($0) } ?? false }
            let entry = Self.entry(word)
            guard entry.port == nil || entry.port == port else { return false }
            if let named = IPAddress(String(entry.host)) { return named == address }
            return address == nil && Self.names(entry.host, host)
        }
    }

    private static func names(_ pattern: Substring, _ host: Substring) -> Bool {
        if pattern.hasPrefix("*.") { return host.hasSuffix(pattern.dropFirst()) }
        let domain = pattern.drop { $0 == "." }
        return !domain.isEmpty && (host == domain || host.hasSuffix(".\(domain)"))
    }

    private static func entry(_ word: Substring) -> Entry {
        let whole = Entry(host: plain(word), port: nil)
        // Without brackets, the colons of an IPv6 address do not introduce a port.
        guard IPAddress(String(word)) == nil, let colon = word.lastIndex(of: ":"),
            let port = UInt16(word[word.index(after: colon)...])
        else { return whole }
        return Entry(host: plain(word[..<colon]), port: port)
    }

    /// Without the brackets of an IPv6 address, and without the trailing dot of an absolute name.
    private static func plain(_ host: Substring) -> Substring {
        if host.hasPrefix("["), host.hasSuffix("]") { return host.dropFirst().dropLast() }
        return host.hasSuffix(".") ? host.dropLast() : host
    }
}

import BrokerModel

/// An absolute `http` or `https` URL, as far as the broker must understand one: enough to decide whether it may go there.
///
/// Strict on purpose. What is not plain printable ASCII, or could be read in two ways (user info, backslash), is no URL:
/// the host that is checked here must be the host that libcurl connects to.
package struct WebURL: Sendable, Equatable {
    package let text: String
    package let isSecure: Bool
    /// In lower case, an IPv6 address with its brackets.
    package let host: String
    /// As written; nil means the scheme's own.
    package let port: UInt16?
    /// As written, and empty when there is none.
    package let path: String
    package let hasQuery: Bool
    package let hasFragment: Bool

    package static let longest = 8192

    package init?(_ text: String) {
        guard text.utf8.count <= Self.longest,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") }),
            let schemeEnd = text.firstRange(of: "://")
        else { return nil }
        switch text[..<schemeEnd.lowerBound].lowercased() {
        case "https": isSecure = true
        case "http": isSecure = false
        default: return nil
        }
        let rest = text[schemeEnd.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let (host, port) = Self.split(authority.lowercased()) else { return nil }
        self.text = text
        self.host = host
        self.port = port
        let tail = rest[authority.endIndex...]
        path = String(tail.prefix { $0 != "?" && $0 != "#" })
        hasFragment = tail.contains("#")
        hasQuery = tail.prefix { $0 != "#" }.contains("?")
    }

    /// Scheme, host, and port where it is not the scheme's own (RFC 6454, section 6.2).
    package var origin: String {
        let port = port.flatMap { $0 == (isSecure ? 443 : 80) ? nil : ":\($0)" } ?? ""
        return "\(isSecure ? "https" : "http")://\(host)\(port)"
    }

    package var isLoopback: Bool { Authority.isLoopback(host) }

    /// Host, and port where it is written: how messages name a server.
    package var server: String { port.map { "\(host):\($0)" } ?? host }

    private static func split(_ authority: String) -> (host: String, port: UInt16?)? {
        var host = Substring(authority)
        var port: UInt16?
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            let digits = authority[authority.index(after: colon)...]
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(digits), number > 0
            else { return nil }
            host = authority[..<colon]
            port = number
        }
        if host.hasPrefix("[") {
            guard host.hasSuffix("]"), host.count > 2,
                host.dropFirst().dropLast().utf8.allSatisfy(isIPv6Character)
            else { return nil }
        } else {
            guard !host.isEmpty, host.utf8.allSatisfy(isNameCharacter) else { return nil }
        }
        return (String(host), port)
    }

    private static func isNameCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isIPv6Character(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: ":"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

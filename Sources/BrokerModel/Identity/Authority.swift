import BrokerValues

/// The issuer an app signs in at: a URL without query and fragment.
///
/// Values are made by ``init(parsing:allowHTTPLoopback:)`` only, so a plain-http authority that is not loopback cannot
/// exist further in.
package struct Authority: Sendable, Hashable {
    /// Scheme and host lower-cased, default port and trailing slash gone: what records are filed under.
    package let url: String
    /// Host, and port where it is not the scheme's own.
    package let environment: String
    /// The path without its leading slash: tells apart issuers that share a host. Empty for an issuer at the root.
    package let path: String

    /// Loopback, then: anything else could not have been made.
    package var isPlainHTTP: Bool { url.hasPrefix("http://") }

    package enum Invalid: Error, Sendable, Equatable {
        case notAURL
        case plainHTTP
        case httpLoopbackNotAllowed
        case hasQueryOrFragment
        case hasUserInfo
    }

    /// - Parameters:
    ///   - text: the URL as an app or an administrator gave it.
    ///   - allowHTTPLoopback: whether `http://127.0.0.1…`, `http://[::1]…` and `http://localhost…` may be used.
    package init(parsing text: String, allowHTTPLoopback: Bool) throws(Invalid) {
        guard let schemeEnd = text.firstRange(of: "://") else { throw .notAURL }
        let scheme = text[..<schemeEnd.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else { throw .notAURL }
        let rest = text[schemeEnd.upperBound...]
        guard !rest.contains(where: { $0 == "?" || $0 == "#" }) else { throw .hasQueryOrFragment }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") }) else { throw .notAURL }
        let hostEnd = rest.firstIndex(of: "/") ?? rest.endIndex
        let hostAndPort = rest[..<hostEnd].lowercased()
        guard !hostAndPort.contains("@") else { throw .hasUserInfo }
        guard let (host, port) = Self.split(hostAndPort) else { throw .notAURL }
        if scheme == "http" {
            guard Self.isLoopback(host) else { throw .plainHTTP }
            guard allowHTTPLoopback else { throw .httpLoopbackNotAllowed }
        }
        let ownPort = port.flatMap { $0 == (scheme == "https" ? 443 : 80) ? nil : ":\($0)" } ?? ""
        environment = host + ownPort
        var path = rest[hostEnd...].drop(while: { $0 == "/" })
        while path.hasSuffix("/") { path = path.dropLast() }
        self.path = String(path)
        url = "\(scheme)://\(environment)" + (path.isEmpty ? "" : "/\(path)")
    }

    package static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { isDigits($0) && UInt8($0) != nil }
    }

    private static func split(_ hostAndPort: String) -> (host: String, port: UInt16?)? {
        var host = Substring(hostAndPort)
        var port: UInt16?
        if let colon = hostAndPort.lastIndex(of: ":"), !hostAndPort[colon...].contains("]") {
            host = hostAndPort[..<colon]
            let digits = hostAndPort[hostAndPort.index(after: colon)...]
            guard isDigits(digits), let number = UInt16(digits), number > 0 else { return nil }
            port = number
        }
        return isHost(host) ? (String(host), port) : nil
    }

    /// A registered name or IPv4 address without percent-encoding, or an IPv6 address in brackets (RFC 3986, section
    /// 3.2.2). What other parsers might read as something else than a host is no host.
    private static func isHost(_ host: Substring) -> Bool {
        if host.hasPrefix("["), host.hasSuffix("]") {
            let address = host.dropFirst().dropLast()
            return address.contains(":") && address.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
        }
        return !host.isEmpty && !host.hasPrefix(".")
            && host.utf8.allSatisfy {
                isLowercaseOrDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_")
            }
    }

    private static func isLowercaseOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// `UInt16("+80")` is a number to Swift.
    private static func isDigits(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}

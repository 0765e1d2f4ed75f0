import Glibc

/// An absolute `http` or `https` URL (RFC 3986), parsed as far as the broker needs. Every part of the broker parses URLs here:
/// the host that is checked must be the host that libcurl and the browser use, so every URL that two parsers could interpret
/// differently is rejected.
///
/// - Characters: those of RFC 3986 (section 2). No blank, control character or letter beyond ASCII; no backslash, which browsers
///   take for a slash; no double quote, `<`, `>`, `^`, `|` or backtick. The apostrophe is an ordinary character of a path or
///   query: no shell sees a URL, and pages escape it. A percent sign is followed by two hex digits. Braces are in the paths of
///   templates only.
/// - User info: none. `https://good.example@evil.example` is a trap for readers.
/// - Host: letters, digits, `-`, `.` and `_`, without percent-encoding and without a dot in front; or an IPv6 address in
///   brackets, without a zone.
/// - Port: 1 to 65535, in digits. A colon without a port is rejected.
/// - Length: ``longest`` bytes, unless the caller sets another limit.
package struct WebURL: Sendable, Hashable {
    package enum Invalid: Error, Sendable, Equatable {
        case notAURL
        case hasUserInfo
    }

    /// The URL as received.
    package let text: String
    /// Whether the scheme is `https`.
    package let isSecure: Bool
    /// The host in lower case; an IPv6 address with its brackets.
    package let host: String
    /// The port as written; `nil` means the scheme's default.
    package let port: UInt16?
    /// The path as written; empty if there is none.
    package let path: String
    package let hasQuery: Bool
    package let hasFragment: Bool

    package static let longest = 8192

    package init?(_ text: String, atMost longest: Int = Self.longest) {
        do { try self.init(parsing: text, atMost: longest) } catch { return nil }
    }

    /// - Parameters:
    ///   - longest: in bytes.
    ///   - isTemplate: whether its path may contain braces, as in Entra's issuers (`{tenantid}`). It is never requested.
    package init(
        parsing text: String, atMost longest: Int = Self.longest, isTemplate: Bool = false
    ) throws(Invalid) {
        guard text.utf8.count <= longest else { throw .notAURL }
        // Bytes, because the delimiters are ASCII: combining marks after them would make other characters.
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            throw .notAURL
        }
        switch Self.lowercased(bytes[..<colon]) {
        case "https": isSecure = true
        case "http": isSecure = false
        default: throw .notAURL
        }
        let rest = bytes[(colon + 3)...]
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && !Self.endsPath($0) }
        let path = rest[authority.endIndex...].prefix { !Self.endsPath($0) }
        let extras = rest[path.endIndex...]
        guard Self.isWellFormed(path, hasBraces: isTemplate), Self.isWellFormed(extras, hasBraces: false),
            authority.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") })
        else { throw .notAURL }
        guard !authority.contains(UInt8(ascii: "@")) else { throw .hasUserInfo }
        guard let (host, port) = Self.split(authority) else { throw .notAURL }
        (self.text, self.host, self.port, self.path) = (text, host, port, String(decoding: path, as: UTF8.self))
        hasQuery = extras.first == UInt8(ascii: "?")
        hasFragment = extras.contains(UInt8(ascii: "#"))
    }

    /// The host, with its port unless that is the scheme's default. It distinguishes servers.
    package var server: String {
        port.flatMap { $0 == (isSecure ? 443 : 80) ? nil : "\(host):\($0)" } ?? host
    }

    /// Scheme and ``server`` (RFC 6454, section 6.2).
    package var origin: String { "\(isSecure ? "https" : "http")://\(server)" }

    /// The hosts that may be asked by plain http: no other address of 127.0.0.0/8 may, and no name below `localhost`.
    private static let loopbackHosts: Set<String> = ["127.0.0.1", "[::1]", "localhost"]

    /// Names below `localhost` are this machine's as well, regardless of DNS (RFC 6761, section 6.3).
    ///
    /// - Parameter host: in lower case.
    package static func isLoopback(_ host: some StringProtocol) -> Bool {
        loopbackHosts.contains(String(host))
            || (host.hasSuffix(".localhost") && host.utf8.count > ".localhost".utf8.count)
    }

    package var isLoopback: Bool { Self.isLoopback(host) }

    /// Whether requests to it cannot be read or changed on the way.
    package var isSafeToRequest: Bool { isSecure || Self.loopbackHosts.contains(host) }
}

extension WebURL {
    private typealias Bytes = ArraySlice<UInt8>

    private static func split(_ authority: Bytes) -> (host: String, port: UInt16?)? {
        var host = authority
        var port: UInt16?
        if let colon = authority.lastIndex(of: UInt8(ascii: ":")), !authority[colon...].contains(UInt8(ascii: "]")) {
            let digits = authority[(colon + 1)...]
            // Swift accepts `UInt16("+80")` as a number.
            guard digits.allSatisfy(isDigit), let number = UInt16(String(decoding: digits, as: UTF8.self)), number > 0
            else { return nil }
            host = authority[..<colon]
            port = number
        }
        return isHost(host) ? (lowercased(host), port) : nil
    }

    private static func isHost(_ host: Bytes) -> Bool {
        guard host.first == UInt8(ascii: "[") else {
            return !host.isEmpty && host.first != UInt8(ascii: ".")
                && host.allSatisfy {
                    $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
                        || $0 == UInt8(ascii: "_")
                }
        }
        var address = in6_addr()
        let inner = String(decoding: host.dropFirst().dropLast(), as: UTF8.self)
        return host.last == UInt8(ascii: "]") && inet_pton(AF_INET6, inner, &address) == 1
    }

    private static func endsPath(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }

    /// Characters of a path (RFC 3986, section 3.3), or of query and fragment (3.4 and 3.5) with their delimiters.
    private static func isWellFormed(_ bytes: Bytes, hasBraces: Bool) -> Bool {
        let ordinary = ordinary
        var rest = bytes
        var inFragment = false
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard rest.prefix(2).compactMap(PercentEncoding.hexValue).count == 2 else { return false }
            case UInt8(ascii: "{"), UInt8(ascii: "}"):
                guard hasBraces else { return false }
            case UInt8(ascii: "#"):
                guard !inFragment else { return false }
                inFragment = true
            default:
                guard ordinary[Int(byte)] else { return false }
            }
        }
        return true
    }

    /// Whether a byte is a letter, a digit, another unreserved character, a sub-delimiter or another character of a path or a
    /// query.
    private static let ordinary: [Bool] = {
        let others = Array("-._~!$&'()*+,;=:@/?".utf8)
        return (0...UInt8.max).map { $0.isASCIILetterOrDigit || others.contains($0) }
    }()

    private static func lowercased(_ bytes: Bytes) -> String { String(decoding: bytes, as: UTF8.self).lowercased() }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

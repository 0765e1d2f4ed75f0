import BrokerValues

/// Where an app signs in: an issuer's URL, or the forms that Entra, B2C, CIAM and ADFS have for it (``ProviderKind``).
///
/// Values are made by the initializer only, so a plain-http authority that is not loopback cannot exist further in.
package struct Authority: Sendable, Hashable {
    /// In one spelling: scheme and host lower-cased, default port and trailing slash gone; for the kinds with tenants the
    /// cloud's own host, without `/v2.0`, the tenant lower-cased.
    package let url: String
    /// Host, and port where it is not the scheme's own: what records are filed under. One for all aliases of a cloud.
    package let environment: String
    /// The path without its leading slash: tells apart issuers that share a host. Empty for an issuer at the root.
    package let path: String
    package let kind: ProviderKind
    /// Nil where there are no tenants to choose from.
    package let tenant: Tenant?

    package var rules: any ProviderRules { kind.rules }

    /// Whether one person can have tokens of several tenants by one refresh token.
    package var hasTenants: Bool { tenant != nil }

    /// Loopback, then: anything else could not have been made.
    package var isPlainHTTP: Bool { url.hasPrefix("http://") }

    package enum Invalid: Error, Sendable, Equatable {
        case notAURL
        case plainHTTP
        case httpLoopbackNotAllowed
        case hasQueryOrFragment
        case hasUserInfo
        /// An Entra host without a tenant.
        case tenantMissing
        /// A tenant that can be none, or one followed by something else than `/v2.0`.
        case notATenant
        /// A B2C host without tenant and policy.
        case policyMissing
        /// An ADFS authority ends in `/adfs`.
        case notADFS
    }

    /// - Parameters:
    ///   - text: the URL as an app or an administrator gave it.
    ///   - allowHTTPLoopback: whether `http://127.0.0.1…`, `http://[::1]…` and `http://localhost…` may be used.
    ///   - kinds: what the provider at a host (and port) is, where the host does not say it itself.
    package init(
        parsing text: String, allowHTTPLoopback: Bool, kinds: [String: ProviderKind] = [:]
    ) throws(Invalid) {
        let (scheme, host, givenPath) = try Self.parts(of: text, allowHTTPLoopback: allowHTTPLoopback)
        let read = AuthorityURL(host: host, path: givenPath)
        kind = kinds[host] ?? ProviderKind(of: read)
        let form = try kind.rules.form(of: read)
        (environment, path, tenant) = (form.environment, form.path, form.tenant)
        url = "\(scheme)://\(environment)" + (path.isEmpty ? "" : "/\(path)")
    }

    /// An issuer as documents and tokens name it, whatever kind of provider that is; nil when it is none.
    package static func issuer(_ text: String) -> Authority? {
        guard let (scheme, host, path) = try? parts(of: text, allowHTTPLoopback: true) else { return nil }
        return Authority(
            url: "\(scheme)://\(host)" + (path.isEmpty ? "" : "/\(path)"), environment: host, path: path,
            kind: .generic, tenant: nil)
    }

    private init(url: String, environment: String, path: String, kind: ProviderKind, tenant: Tenant?) {
        (self.url, self.environment, self.path) = (url, environment, path)
        (self.kind, self.tenant) = (kind, tenant)
    }

    /// Of the host alone, under the name that all aliases of a cloud share.
    package var canonicalHostURL: String {
        let scheme = isPlainHTTP ? "http" : "https"
        return "\(scheme)://\(EntraCloud.canonical(environment))"
    }

    /// The same cloud or server, at another tenant; itself where there are no tenants to choose from.
    package func tenant(_ name: String) -> Authority {
        guard hasTenants else { return self }
        let tenant = Tenant(name)
        return Authority(
            url: url.dropLast(path.count) + tenant.name, environment: environment, path: tenant.name, kind: kind,
            tenant: tenant)
    }

    /// The same tenant at another cloud; itself where there are no clouds to choose from.
    ///
    /// - Parameter environment: the cloud's.
    package func cloud(_ environment: String) -> Authority {
        guard rules.hasClouds, environment != self.environment else { return self }
        let scheme = isPlainHTTP ? "http" : "https"
        return Authority(
            url: "\(scheme)://\(environment)/\(path)", environment: environment, path: path, kind: kind, tenant: tenant)
    }

    /// - Returns: the scheme, the host with its port, the path without slashes around it.
    private static func parts(
        of text: String, allowHTTPLoopback: Bool
    ) throws(Invalid) -> (scheme: String, host: String, path: String) {
        guard let schemeEnd = text.firstRange(of: "://") else { throw .notAURL }
        let scheme = text[..<schemeEnd.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else { throw .notAURL }
        let rest = text[schemeEnd.upperBound...]
        guard !rest.contains(where: { $0 == "?" || $0 == "#" }) else { throw .hasQueryOrFragment }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") }) else { throw .notAURL }
        let hostEnd = rest.firstIndex(of: "/") ?? rest.endIndex
        let hostAndPort = rest[..<hostEnd].lowercased()
        guard !hostAndPort.contains("@") else { throw .hasUserInfo }
        guard let (host, port) = split(hostAndPort) else { throw .notAURL }
        if scheme == "http" {
            guard isLoopback(host) else { throw .plainHTTP }
            guard allowHTTPLoopback else { throw .httpLoopbackNotAllowed }
        }
        let ownPort = port.flatMap { $0 == (scheme == "https" ? 443 : 80) ? nil : ":\($0)" } ?? ""
        var path = rest[hostEnd...].drop(while: { $0 == "/" })
        while path.hasSuffix("/") { path = path.dropLast() }
        return (scheme, host + ownPort, String(path))
    }

    /// The three names that plain http is good for: not even another address of 127.0.0.0/8 is.
    package static func isLoopback(_ host: String) -> Bool {
        host == "127.0.0.1" || host == "[::1]" || host == "localhost"
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

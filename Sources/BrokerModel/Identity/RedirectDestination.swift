import BrokerValues

/// The destination of the provider's redirect, parsed from a redirect URI (RFC 8252, section 7). Pure.
package enum RedirectDestination: Sendable, Equatable {
    /// The broker listens.
    case loopback(RedirectTarget)
    /// A custom scheme or a page on the web: the redirect comes back by `interaction.complete`.
    case elsewhere(String)

    /// - Parameter uri: the request's or the app's; nil means any port on loopback.
    package static func parse(_ uri: String?) throws(BrokerError) -> RedirectDestination {
        guard let uri else { return .loopback(.anyPort(host: "127.0.0.1", path: "/")) }
        guard let colon = uri.firstIndex(of: ":"), colon > uri.startIndex,
            uri.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else { throw invalid("it is not a URI") }
        guard !uri.contains("#") else { throw invalid("it must not have a fragment") }
        let scheme = uri[..<colon].lowercased()
        guard scheme == "http" || scheme == "https" else { return .elsewhere(uri) }
        guard let url = WebURL(uri) else { throw invalid("it has no host, an invalid port, or an invalid character") }
        guard !url.isSecure else { return .elsewhere(uri) }
        guard url.isLoopback else {
            throw invalid("plain http is for 127.0.0.1, [::1], localhost and *.localhost only")
        }
        guard !url.hasQuery else { throw invalid("a loopback redirect URI must not have a query") }
        // Providers compare the path character by character, so a trailing slash stays; an empty path means the root.
        let path = url.path.isEmpty ? "/" : url.path
        guard let port = url.port else { return .loopback(.anyPort(host: url.host, path: path)) }
        return .loopback(.fixed(host: url.host, port: port, path: path))
    }

    /// The `redirect_uri` for the provider if the broker listens on loopback: as registered, character by character, since
    /// providers compare it that way; with the chosen port if none is registered (RFC 8252, section 7.3).
    ///
    /// - Parameters:
    ///   - registered: nil means any port on loopback.
    ///   - address: the broker's listening address.
    package static func sent(_ registered: String?, listeningAt address: String) -> String {
        guard let registered, let url = WebURL(registered) else { return address }
        guard url.port == nil, let port = WebURL(address)?.port else { return registered }
        let host = registered.utf8.dropFirst("http://".utf8.count).prefix { $0 != UInt8(ascii: "/") }
        return "\(registered[..<host.endIndex]):\(port)\(registered[host.endIndex...])"
    }

    /// Whether a browser that was redirected to a redirect URI may show an address. Browsers write scheme and host in lower case,
    /// and add a slash if there is no path; the rest is compared exactly.
    ///
    /// - Parameter address: without query.
    package static func isSame(_ address: String, as uri: String) -> Bool {
        asBrowsersWrite(address) == asBrowsersWrite(String(uri.prefix { $0 != "?" }))
    }

    private static func asBrowsersWrite(_ uri: String) -> String {
        guard let colon = uri.firstIndex(of: ":") else { return uri }
        let scheme = uri[..<colon].lowercased()
        let rest = uri[colon...]
        guard rest.hasPrefix("://") else { return scheme + rest }
        let host = rest.dropFirst(3).prefix { $0 != "/" }
        let path = rest.dropFirst(3 + host.count)
        return scheme + "://" + host.lowercased() + (path.isEmpty ? "/" : path)
    }

    private static func invalid(_ why: String) -> BrokerError {
        BrokerError(.invalidParameter, "The redirect URI cannot be used: \(why).")
    }
}

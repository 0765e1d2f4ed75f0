import BrokerValues

/// Where the provider sends the browser when the person is done, read from a redirect URI (RFC 8252, section 7). Pure.
package enum RedirectDestination: Sendable, Equatable {
    /// The broker listens.
    case loopback(RedirectTarget)
    /// A custom scheme or a page on the web: the redirect comes back by `interaction.complete`.
    case elsewhere(String)

    /// - Parameter uri: the request's or the app's; nil means any port of loopback.
    package static func parse(_ uri: String?) throws(BrokerError) -> RedirectDestination {
        guard let uri else { return .loopback(.anyPort(host: "127.0.0.1", path: "/")) }
        guard let colon = uri.firstIndex(of: ":"), colon > uri.startIndex,
            uri.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else { throw invalid("it is not a URI") }
        guard !uri.contains("#") else { throw invalid("it must not have a fragment") }
        guard uri[..<colon].lowercased() == "http" else { return .elsewhere(uri) }
        do throws(Authority.Invalid) {
            _ = try Authority(parsing: String(uri.prefix { $0 != "?" }), allowHTTPLoopback: true)
        } catch .plainHTTP {
            throw invalid("plain http is for 127.0.0.1, [::1] and localhost only")
        } catch {
            throw invalid("it has no host, or a port that is none")
        }
        guard !uri.contains("?") else { throw invalid("a loopback redirect URI must not have a query") }
        let path = pathExactly(uri)
        // An authority leaves out the scheme's own port, which is a port all the same when it is named.
        let (host, port) = hostAndPort(uri)
        guard let port else { return .loopback(.anyPort(host: host, path: path)) }
        return .loopback(.fixed(host: host, port: port, path: path))
    }

    /// Of an http URI in order.
    private static func hostAndPort(_ uri: String) -> (host: String, port: UInt16?) {
        let place = uri.dropFirst("http://".count).prefix { $0 != "/" }.lowercased()
        guard let colon = place.lastIndex(of: ":"), let port = UInt16(place[place.index(after: colon)...]) else {
            return (place, nil)
        }
        return (String(place[..<colon]), port)
    }

    /// Providers compare the path character by character, so a trailing slash stays; none at all means the root.
    private static func pathExactly(_ uri: String) -> String {
        let afterScheme = uri.dropFirst("http://".count)
        return afterScheme.firstIndex(of: "/").map { String(afterScheme[$0...]) } ?? "/"
    }

    private static func invalid(_ why: String) -> BrokerError {
        BrokerError(.invalidParameter, "The redirect URI cannot be used: \(why).")
    }
}

import BrokerValues

/// The URL of an authority or issuer, of any kind of provider: https, or plain http to loopback.
package struct AuthorityURL: Sendable {
    package let isPlainHTTP: Bool
    /// In lower case, with its port unless that is the scheme's default.
    package let host: String
    /// Without surrounding slashes.
    package let path: String

    /// - Parameters:
    ///   - text: the URL as an app, an administrator or a provider gave it.
    ///   - allowHTTPLoopback: whether `http://127.0.0.1…`, `http://[::1]…` and `http://localhost…` may be used.
    ///   - isTemplate: whether it may contain ``IssuerTemplate/placeholder``.
    init(parsing text: String, allowHTTPLoopback: Bool, isTemplate: Bool = false) throws(InvalidAuthority) {
        let url: WebURL
        do throws(WebURL.Invalid) {
            url = try WebURL(parsing: text, isTemplate: isTemplate)
        } catch {
            throw error == .hasUserInfo ? .hasUserInfo : .notAURL
        }
        guard !url.hasQuery, !url.hasFragment else { throw .hasQueryOrFragment }
        guard url.isSafeToRequest else { throw .plainHTTP }
        guard url.isSecure || allowHTTPLoopback else { throw .httpLoopbackNotAllowed }
        var path = url.path.drop { $0 == "/" }
        while path.hasSuffix("/") { path = path.dropLast() }
        (isPlainHTTP, host, self.path) = (!url.isSecure, url.server, String(path))
    }

    /// An issuer as named in documents and tokens; `nil` if it is not one.
    init?(issuer text: String, isTemplate: Bool = false) {
        do { try self.init(parsing: text, allowHTTPLoopback: true, isTemplate: isTemplate) } catch { return nil }
    }

    /// Normalized: scheme and host in lower case, without default port and trailing slash.
    var text: String { Self.text(isPlainHTTP: isPlainHTTP, host: host, path: path) }

    static func text(isPlainHTTP: Bool, host: String, path: String) -> String {
        (isPlainHTTP ? "http://" : "https://") + host + (path.isEmpty ? "" : "/\(path)")
    }

    var segments: [String] { path.split(separator: "/", omittingEmptySubsequences: false).map(String.init) }

    var firstSegment: String { String(path.prefix { $0 != "/" }) }
}

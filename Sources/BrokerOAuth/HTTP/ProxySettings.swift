import BrokerValues

/// Selects the proxy for a request: the conventional environment variables, read once.
///
/// libcurl would read them itself at every transfer, but a `getenv` concurrent with a `setenv` is a race, and settings
/// that are passed in can be tested. A loopback host is never proxied: its address has another meaning there.
package struct ProxySettings: Sendable, Equatable {
    package var http: String?
    package var https: String?
    /// Hosts, domains and networks that are reached directly, as in `NO_PROXY`; see ``ProxyExceptions``.
    package var exceptions: String?

    package static let none = ProxySettings()

    package init(http: String? = nil, https: String? = nil, exceptions: String? = nil) {
        self.http = http
        self.https = https
        self.exceptions = exceptions
    }

    /// - Parameter environment: `https_proxy`, `all_proxy`, `no_proxy` count in lower and upper case, lower case first;
    ///   `http_proxy` only in lower case, because a web server's environment may hold `HTTP_PROXY` from a request header.
    package init(environment: [String: String]) {
        func value(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        let all = value("all_proxy", "ALL_PROXY")
        http = value("http_proxy") ?? all
        https = value("https_proxy", "HTTPS_PROXY") ?? all
        exceptions = value("no_proxy", "NO_PROXY")
    }

    func proxy(for url: WebURL) -> Proxy? {
        guard !url.isLoopback, let address = url.isSecure ? https : http else { return nil }
        return ProxyExceptions(exceptions ?? "").cover(url) ? nil : Proxy(address: address)
    }
}

/// A proxy as the environment names it.
struct Proxy: Sendable, Equatable {
    /// As libcurl expects it, with user and password.
    let address: String

    /// For display: without user and password, whatever characters they contain.
    var name: String {
        let parts = address.split(separator: "://", maxSplits: 1)
        let scheme = parts.count > 1 ? parts[0].split(separator: "@").first ?? "" : "http"
        let rest = address.split(separator: "@").last ?? ""
        let server = (rest.split(separator: "://", maxSplits: 1).last ?? "").prefix { !"/?#".contains($0) }
        return SafeText("\(scheme)://\(server)", atMost: 200).text
    }

    /// Whether it connects before the first byte of TLS and sends nothing of its own afterwards.
    var isOfSOCKS: Bool { address.lowercased().hasPrefix("socks") }

    /// Whether the connection to the proxy uses TLS.
    var isSecure: Bool { address.lowercased().hasPrefix("https://") }
}

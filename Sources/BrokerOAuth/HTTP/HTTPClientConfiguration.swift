import BrokerValues

/// How an ``HTTPClient`` behaves. TLS verification, the refusal of redirects and the protocols are not in here: they
/// cannot be changed.
package struct HTTPClientConfiguration: Sendable {
    /// For the User-Agent, `token-broker/VERSION`.
    package var version: String
    /// A PEM file with further certificate authorities, beside the system's.
    package var caFile: String?
    package var proxies: ProxySettings
    /// Name, connection and TLS handshake.
    package var connectTimeout: Duration = .seconds(10)
    /// The whole exchange, and the wait for a free connection before it.
    package var totalTimeout: Duration = .seconds(30)
    /// Bytes of an answer's body.
    package var largestAnswer = 1 << 20
    /// Of one issuer. A provider that hangs must not take every socket; more requests to it wait in line.
    package var connectionsPerHost = 64
    /// Where several issuers share a host, one that hangs must not take every connection to it.
    package var requestsPerEndpoint = 32
    /// A connection that was idle for longer is not used again: the older it is, the likelier the server is just about to
    /// close it, and a token request that meets this has an unknown outcome.
    package var longestIdleConnection: Duration = .seconds(45)
    /// Issuers whose connections are kept while nothing is asked of them.
    package var mostIdleIssuers = 64
    /// Whether a request for an issuer may connect to an address that is none of the public internet. The address that is connected
    /// to is looked at, whatever name led there; behind a proxy it is the proxy that connects.
    package var reachesPrivateAddresses: @Sendable (_ issuer: String) -> Bool = { _ in true }

    package init(version: String, caFile: String? = nil, proxies: ProxySettings = .none) {
        self.version = version
        self.caFile = caFile
        self.proxies = proxies
    }
}

/// Which proxy a request goes through: the conventional environment variables, read once.
///
/// libcurl would read them itself at every transfer, but `getenv` beside a `setenv` of anybody else is a race, and
/// settings that are handed in can be tested. A loopback host is never proxied: its address means something else there.
package struct ProxySettings: Sendable, Equatable {
    package var http: String?
    package var https: String?
    /// Comma-separated hosts, domains and networks that are reached directly, as in `NO_PROXY`.
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

    func proxy(for url: WebURL) -> String? {
        if url.isLoopback { return nil }
        return url.isSecure ? https : http
    }
}

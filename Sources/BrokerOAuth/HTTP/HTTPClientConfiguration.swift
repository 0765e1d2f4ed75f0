import BrokerValues

/// How an ``HTTPClient`` behaves. TLS verification, the refusal of redirects and the protocols are not in here: they
/// cannot be changed.
package struct HTTPClientConfiguration: Sendable {
    /// For the User-Agent, `token-broker/VERSION`.
    package var version: String
    /// A PEM file with further certificate authorities, beside the system's.
    package var caFile: String?
    package var proxies: ProxySettings
    /// In place of the system's certificate authorities.
    package var certificates = CertificateVariables.none
    /// Gets why a file of certificate authorities that changed cannot be used; the earlier ones stay in force.
    package var complain: @Sendable (HTTPClient.ConfigurationError) -> Void = { _ in }
    /// Name, connection and TLS handshake.
    package var connectTimeout: Duration = .seconds(10)
    /// The whole exchange, and the wait for a free connection before it.
    package var totalTimeout: Duration = .seconds(30)
    /// Bytes of an answer's body.
    package var largestAnswer = 1 << 20
    /// Of one issuer. A provider that hangs must not take every socket; more requests to it wait in line.
    package var connectionsPerIssuer = 64
    /// An endpoint that hangs must not take every connection of its issuer.
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

    var authorityFiles: [String] { [caFile, certificates.file].compactMap(\.self) }
}

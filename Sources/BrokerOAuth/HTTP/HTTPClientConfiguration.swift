import BrokerValues

/// How an ``HTTPClient`` behaves. TLS verification, the refusal of redirects and the protocols are not included: they
/// cannot be changed.
package struct HTTPClientConfiguration: Sendable {
    /// The version in the User-Agent, `token-broker/VERSION`.
    package var version: String
    /// A PEM file with further certificate authorities, in addition to the system's.
    package var caFile: String?
    package var proxies: ProxySettings
    /// Replacements for the system's certificate authorities.
    package var certificates = CertificateVariables()
    /// Receives the reason why a changed file of certificate authorities cannot be used; the earlier ones stay in force.
    package var complain: @Sendable (HTTPClientError) -> Void = { _ in }
    /// Limit for name lookup, connection and TLS handshake.
    package var connectTimeout: Duration = .seconds(10)
    /// Limit for the whole exchange, and for the wait for a free connection before it.
    package var totalTimeout: Duration = .seconds(30)
    /// The maximum number of bytes of a response body.
    package var largestAnswer = 1 << 20
    /// The limit for one issuer. A provider that hangs must not take every socket; more requests to it wait in line.
    package var connectionsPerIssuer = 64
    /// The limit for one endpoint: one that hangs must not take every connection of its issuer.
    package var requestsPerEndpoint = 32
    /// A connection that was idle for longer is not used again: the older it is, the likelier the server is just about to
    /// close it, and a token request that meets this has an unknown outcome.
    package var longestIdleConnection: Duration = .seconds(45)
    /// The number of issuers whose connections are kept while they get no requests.
    package var maximumIdleIssuers = 64
    /// Whether a request for an issuer may connect to an address outside the public internet. The address that is connected
    /// to is checked, regardless of the name; with a proxy, the proxy connects.
    package var reachesPrivateAddresses: @Sendable (_ issuer: String) -> Bool = { _ in true }

    package init(version: String, caFile: String? = nil, proxies: ProxySettings = .none) {
        self.version = version
        self.caFile = caFile
        self.proxies = proxies
    }

    var authorityFiles: [String] { [caFile, certificates.file].compactMap(\.self) }
}

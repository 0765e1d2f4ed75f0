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
    ///
    /// - Parameter isTemplate: whether it may be one (``IssuerRule/placeholder``).
    package static func issuer(_ text: String, isTemplate: Bool = false) -> Authority? {
        let parts = try? parts(of: text, allowHTTPLoopback: true, isTemplate: isTemplate)
        guard let (scheme, host, path) = parts else { return nil }
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

    /// Within what the authority's documents are believed, and connections are shared: the issuer; the host where it is the
    /// provider's own, whoever its customers are. One host may have issuers of several owners.
    package var trustBoundary: String { rules.hasHostWideClients ? canonicalHostURL : url }

    /// Whether an endpoint is on the authority's own host and port, under whatever name the cloud has there.
    package func isHost(of endpoint: String) -> Bool {
        guard let url = WebURL(endpoint), url.isSecureOrLoopback else { return false }
        return url.server == environment || EntraCloud.canonical(url.server) == environment
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
        of text: String, allowHTTPLoopback: Bool, isTemplate: Bool = false
    ) throws(Invalid) -> (scheme: String, host: String, path: String) {
        let url: WebURL
        do throws(WebURL.Invalid) {
            url = try WebURL(parsing: text, isTemplate: isTemplate)
        } catch {
            throw error == .hasUserInfo ? .hasUserInfo : .notAURL
        }
        guard !url.hasQuery, !url.hasFragment else { throw .hasQueryOrFragment }
        guard url.isSecureOrLoopback else { throw .plainHTTP }
        guard url.isSecure || allowHTTPLoopback else { throw .httpLoopbackNotAllowed }
        var path = url.path.drop { $0 == "/" }
        while path.hasSuffix("/") { path = path.dropLast() }
        return (url.isSecure ? "https" : "http", url.server, String(path))
    }
}

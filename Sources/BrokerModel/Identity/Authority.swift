import BrokerValues

/// The authority where an app signs in: an issuer's URL, or the forms that Entra, B2C, CIAM and ADFS have for it
/// (``ProviderKind``).
///
/// Values are made by the initializer only, so a plain-http authority that is not loopback cannot reach other code.
package struct Authority: Sendable, Hashable {
    /// Normalized: scheme and host in lower case, without default port and trailing slash; for the kinds with tenants the cloud's
    /// own host, without `/v2.0`, the tenant in lower case.
    package let url: String
    /// The host, with its port unless that is the scheme's default: records are filed under it. One for all aliases of a cloud.
    package let environment: String
    /// The path without its leading slash: distinguishes issuers that share a host. Empty for an issuer at the root.
    package let path: String
    package let kind: ProviderKind
    /// `nil` if there are no tenants.
    package let tenant: Tenant?

    package var rules: any ProviderRules { kind.rules }

    /// Whether one refresh token can give a user tokens of several tenants.
    package var hasTenants: Bool { tenant != nil }

    /// Always loopback: no other authority can be made.
    package var isPlainHTTP: Bool { url.hasPrefix("http://") }

    package enum Invalid: Error, Sendable, Equatable {
        case notAURL
        case plainHTTP
        case httpLoopbackNotAllowed
        case hasQueryOrFragment
        case hasUserInfo
        /// An Entra host without a tenant.
        case tenantMissing
        /// An invalid tenant, or one followed by anything but `/v2.0`.
        case notATenant
        /// A B2C host without tenant and policy.
        case policyMissing
        /// An ADFS authority ends in `/adfs`.
        case notADFS
    }

    /// - Parameters:
    ///   - text: the URL as an app or an administrator gave it.
    ///   - allowHTTPLoopback: whether `http://127.0.0.1…`, `http://[::1]…` and `http://localhost…` may be used.
    ///   - kinds: the kind of provider at a host (and port), if the host name does not show it.
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

    /// An issuer as named in documents and tokens, of any kind of provider; `nil` if it is not one.
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

    /// The URL of the host alone, under the name that all aliases of a cloud share.
    package var canonicalHostURL: String {
        let scheme = isPlainHTTP ? "http" : "https"
        return "\(scheme)://\(EntraCloud.canonical(environment))"
    }

    /// The boundary within which the authority's documents are trusted, and connections are shared: the issuer, or the host if it
    /// is the provider's own for all customers. One host may have issuers of several owners.
    package var trustBoundary: String { rules.hasHostWideClients ? canonicalHostURL : url }

    /// Whether an endpoint is on the authority's own host and port, under any of the cloud's names.
    package func isHost(of endpoint: String) -> Bool {
        guard let url = WebURL(endpoint), url.isSecureOrLoopback else { return false }
        return url.server == environment || EntraCloud.canonical(url.server) == environment
    }

    /// The same cloud or server, at another tenant; the authority itself if there are no tenants.
    package func tenant(_ name: String) -> Authority {
        guard hasTenants else { return self }
        let tenant = Tenant(name)
        return Authority(
            url: url.dropLast(path.count) + tenant.name, environment: environment, path: tenant.name, kind: kind,
            tenant: tenant)
    }

    /// The same tenant at another cloud; the authority itself if there are no clouds.
    ///
    /// - Parameter environment: of the cloud.
    package func cloud(_ environment: String) -> Authority {
        guard rules.hasClouds, environment != self.environment else { return self }
        let scheme = isPlainHTTP ? "http" : "https"
        return Authority(
            url: "\(scheme)://\(environment)/\(path)", environment: environment, path: path, kind: kind, tenant: tenant)
    }

    /// - Returns: the scheme, the host with its port, the path without surrounding slashes.
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

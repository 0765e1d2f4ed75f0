import BrokerValues

/// The authority where an app signs in: an issuer's URL, or the forms that Entra, B2C, CIAM and ADFS have for it
/// (``ProviderKind``).
///
/// Values are made by the initializer only, so a plain-http authority that is not loopback cannot reach other code.
package struct Authority: Sendable, Hashable {
    let form: AuthorityForm
    package let kind: ProviderKind

    /// Normalized: scheme and host in lower case, without default port and trailing slash; for the kinds with tenants the cloud's
    /// own host, without `/v2.0`, the tenant in lower case.
    package var url: String { form.url }
    /// The host, with its port unless that is the scheme's default: records are filed under it. One for all aliases of a cloud.
    package var environment: String { form.environment }
    /// The path without its leading slash: distinguishes issuers that share a host. Empty for an issuer at the root.
    package var path: String { form.path }
    /// `nil` if there are no tenants.
    package var tenant: Tenant? { form.tenant }

    package var rules: any ProviderRules { kind.rules }

    /// Whether one refresh token can give a user tokens of several tenants.
    package var hasTenants: Bool { tenant != nil }

    /// Always loopback: no other authority can be made.
    package var isPlainHTTP: Bool { url.hasPrefix("http://") }

    /// - Parameters:
    ///   - text: the URL as an app or an administrator gave it.
    ///   - allowHTTPLoopback: whether `http://127.0.0.1…`, `http://[::1]…` and `http://localhost…` may be used.
    ///   - kinds: the kind of provider at a host (and port), if the host name does not show it.
    package init(
        parsing text: String, allowHTTPLoopback: Bool, kinds: [String: ProviderKind] = [:]
    ) throws(InvalidAuthority) {
        let read = try AuthorityURL(parsing: text, allowHTTPLoopback: allowHTTPLoopback)
        kind = kinds[read.host] ?? ProviderKind(of: read)
        form = try kind.rules.form(of: read)
    }

    /// An issuer as named in documents and tokens, of any kind of provider; `nil` if it is not one.
    package static func issuer(_ text: String) -> Authority? {
        guard let url = AuthorityURL(issuer: text) else { return nil }
        return Authority(AuthorityForm(of: url, environment: url.host, path: url.path), .generic)
    }

    private init(_ form: AuthorityForm, _ kind: ProviderKind) { (self.form, self.kind) = (form, kind) }

    /// The URL of the host alone, under the name that all aliases of a cloud share.
    package var canonicalHostURL: String {
        AuthorityURL.text(isPlainHTTP: isPlainHTTP, host: EntraCloud.canonical(environment), path: "")
    }

    /// The boundary within which the authority's documents are trusted, and connections are shared: the issuer, or the host if it
    /// is the provider's own for all customers. One host may have issuers of several owners.
    package var trustBoundary: String { rules.hasHostWideClients ? canonicalHostURL : url }

    /// Whether an endpoint is on the authority's own host and port, under any of the cloud's names.
    package func isHost(of endpoint: String) -> Bool {
        guard let url = WebURL(endpoint), url.isSafeToRequest else { return false }
        return url.server == environment || EntraCloud.canonical(url.server) == environment
    }

    /// Whether a text is this authority's URL, in any form that its kind of provider has for it.
    package func isNamed(by text: String) -> Bool {
        guard let read = AuthorityURL(issuer: text), let other = try? rules.form(of: read) else { return false }
        return other == form
    }

    /// The same cloud or server, at another tenant; the authority itself if there are no tenants.
    package func tenant(_ name: String) -> Authority {
        guard hasTenants else { return self }
        let tenant = Tenant(name)
        let form = AuthorityForm(isPlainHTTP: isPlainHTTP, environment: environment, path: tenant.name, tenant: tenant)
        return Authority(form, kind)
    }

    /// The same tenant at another cloud; the authority itself if there are no clouds.
    ///
    /// - Parameter environment: of the cloud.
    package func cloud(_ environment: String) -> Authority {
        guard rules.hasClouds, environment != self.environment else { return self }
        let form = AuthorityForm(isPlainHTTP: isPlainHTTP, environment: environment, path: path, tenant: tenant)
        return Authority(form, kind)
    }
}

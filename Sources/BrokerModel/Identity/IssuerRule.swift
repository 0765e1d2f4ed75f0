/// Which issuers an authority's documents may name, and its ID tokens may come from. Pure.
///
/// A generic issuer is the authority itself (OpenID Connect Discovery 1.0, section 4.3). Entra's authorities are not:
/// the document of `common` names a template, and that of a domain the tenant's id.
package struct IssuerRule: Sendable, Equatable {
    package let authority: Authority
    /// As the discovery document spells it: exact, or with ``placeholder``.
    package let issuer: String

    package static let placeholder = "{tenantid}"

    /// - Returns: nil when this issuer's document cannot be the authority's: it may be another provider's.
    package init?(_ issuer: String, of authority: Authority) {
        guard let named = Authority.issuer(issuer), named.url.hasPrefix("https://") || authority.isPlainHTTP else {
            return nil
        }
        guard Self.admits(named, of: authority) else { return nil }
        self.authority = authority
        self.issuer = issuer
    }

    /// Whether an ID token may come from this issuer.
    ///
    /// - Parameter tenant: the token's own `tid`.
    package func accepts(_ issuer: String, tenant: String?) -> Bool {
        guard authority.kind.hasTenants else { return issuer == self.issuer }
        guard let tenant, AuthorityForm.isName(tenant) else { return false }
        if case .id(let wanted) = authority.kind.tenant, tenant.lowercased() != wanted { return false }
        if Self.isTemplate(self.issuer) {
            return issuer == self.issuer.replacing(Self.placeholder, with: tenant)
        }
        // The token's tenant is what it is filed under: it must be the issuer's own.
        return issuer == self.issuer && Authority.issuer(issuer).map(Self.tenant)?.lowercased() == tenant.lowercased()
    }

    /// Whether a redirect that names this issuer (RFC 9207) comes from a provider whose document names `pattern`.
    package static func isSame(_ issuer: String, as pattern: String) -> Bool {
        guard let place = pattern.firstRange(of: placeholder) else { return issuer == pattern }
        let (head, tail) = (pattern[..<place.lowerBound], pattern[place.upperBound...])
        guard issuer.hasPrefix(head), issuer.hasSuffix(tail), issuer.count > head.count + tail.count else {
            return false
        }
        return AuthorityForm.isName(String(issuer.dropFirst(head.count).dropLast(tail.count)))
    }

    private static func isTemplate(_ issuer: String) -> Bool { issuer.contains(placeholder) }

    private static func admits(_ issuer: Authority, of authority: Authority) -> Bool {
        let host = issuer.environment
        switch authority.kind {
        case .generic:
            return issuer.url == authority.url
        case .adfs, .b2c:
            return EntraCloud.canonical(host) == authority.environment && !isTemplate(issuer.path)
        case .entra(let tenant):
            guard EntraCloud.canonical(host) == authority.environment else { return false }
            return isTenantPath(issuer, of: tenant)
        case .ciam(let tenant):
            let ownHost = host == authority.environment
            guard ownHost || host == self.tenant(of: issuer).lowercased() + ".ciamlogin.com" else { return false }
            return isTenantPath(issuer, of: tenant)
        }
    }

    /// `TENANT/v2.0`, the tenant being the authority's if that names one by its id.
    private static func isTenantPath(_ issuer: Authority, of tenant: Tenant) -> Bool {
        let segments = issuer.path.split(separator: "/", omittingEmptySubsequences: false)
        guard segments.count == 1 || (segments.count == 2 && segments[1] == "v2.0") else { return false }
        let named = String(segments[0])
        if named == placeholder { return true }
        guard AuthorityForm.isName(named) else { return false }
        if case .id(let wanted) = tenant { return named.lowercased() == wanted }
        return true
    }

    private static func tenant(of issuer: Authority) -> String {
        String(issuer.path.prefix { $0 != "/" })
    }
}

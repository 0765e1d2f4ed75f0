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
        guard let named = Authority.issuer(issuer), !named.isPlainHTTP || authority.isPlainHTTP else {
            return nil
        }
        guard authority.rules.admits(named, for: authority) else { return nil }
        self.authority = authority
        self.issuer = issuer
    }

    /// Whether an ID token may come from this issuer.
    ///
    /// - Parameter tenant: the token's own `tid`.
    package func accepts(_ issuer: String, tenant: String?) -> Bool {
        guard authority.hasTenants else { return issuer == self.issuer }
        guard let tenant, Tenant.isName(tenant) else { return false }
        if case .id(let wanted) = authority.tenant, tenant.lowercased() != wanted { return false }
        if Self.isTemplate(self.issuer) {
            return issuer == self.issuer.replacing(text: Self.placeholder, with: tenant)
        }
        // The token's tenant is what it is filed under: it must be the issuer's own.
        return issuer == self.issuer && Authority.issuer(issuer).map(Self.tenant)?.lowercased() == tenant.lowercased()
    }

    /// Whether a key that is published for one issuer may sign a token of another. Entra's key sets are many tenants', and
    /// say of each key whose it is.
    ///
    /// - Parameters:
    ///   - owner: as the key set names it; nil when it does not.
    ///   - tenant: the token's own `tid`.
    package func takesKey(of owner: String?, for issuer: String?, tenant: String?) -> Bool {
        guard authority.hasTenants, let owner else { return true }
        return issuer == tenant.map { owner.replacing(text: Self.placeholder, with: $0) } ?? owner
    }

    /// Whether a redirect that names this issuer (RFC 9207) comes from a provider whose document names `pattern`.
    package static func isSame(_ issuer: String, as pattern: String) -> Bool {
        guard let place = pattern.firstRange(ofText: placeholder) else { return issuer == pattern }
        let (head, tail) = (pattern[..<place.lowerBound], pattern[place.upperBound...])
        guard issuer.hasPrefix(head), issuer.hasSuffix(tail), issuer.count > head.count + tail.count else {
            return false
        }
        return Tenant.isName(String(issuer.dropFirst(head.count).dropLast(tail.count)))
    }

    static func isTemplate(_ issuer: String) -> Bool { issuer.holds(placeholder) }

    static func tenant(of issuer: Authority) -> String {
        String(issuer.path.prefix { $0 != "/" })
    }
}

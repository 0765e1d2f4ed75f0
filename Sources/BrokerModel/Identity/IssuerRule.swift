import BrokerValues

/// The issuers that an authority's documents may name, and its ID tokens may come from. Pure.
///
/// A generic issuer is the authority itself (OpenID Connect Discovery 1.0, section 4.3). Entra's authorities are not:
/// the document of `common` names a template, and that of a domain the tenant's id.
package struct IssuerRule: Sendable, Equatable {
    package let authority: Authority
    /// As in the discovery document: exact, or with ``placeholder``.
    package let issuer: ExactText

    package static let placeholder = "{tenantid}"

    /// - Returns: nil if this issuer's document cannot be the authority's: it may be another provider's.
    package init?(_ issuer: String, of authority: Authority) {
        guard let named = Authority.issuer(issuer, isTemplate: true), !named.isPlainHTTP || authority.isPlainHTTP else {
            return nil
        }
        guard authority.rules.admits(named, for: authority) else { return nil }
        self.authority = authority
        self.issuer = ExactText(issuer)
    }

    /// The issuer of an ID token with its scheme. Google may leave it out (OpenID Connect Core, section 15.6.2).
    package func full(_ issuer: ExactText) -> ExactText {
        issuer == Self.google && self.issuer == "https://\(Self.google.text)" ? self.issuer : issuer
    }

    private static let google: ExactText = "accounts.google.com"

    /// Whether an ID token may come from this issuer.
    ///
    /// - Parameter tenant: the token's own `tid`.
    package func accepts(_ issuer: ExactText, tenant: String?) -> Bool {
        guard authority.hasTenants else { return full(issuer) == self.issuer }
        guard let tenant, Tenant.isName(tenant) else { return false }
        if case .id(let wanted) = authority.tenant, tenant.lowercased() != wanted { return false }
        if Self.isTemplate(self.issuer.text) { return issuer == self.issuer.filled(with: tenant) }
        // The token is filed under its tenant: that must be the issuer's own.
        return issuer == self.issuer
            && Authority.issuer(issuer.text).map(Self.tenant)?.lowercased() == tenant.lowercased()
    }

    /// Whether a key that is published for one issuer may sign a token of another. Entra's key sets serve many tenants, and name
    /// the owner of each key.
    ///
    /// - Parameters:
    ///   - owner: from the key set; nil if it names none.
    ///   - tenant: the token's own `tid`.
    package func takesKey(of owner: ExactText?, for issuer: ExactText?, tenant: String?) -> Bool {
        guard authority.hasTenants, let owner else { return true }
        return issuer == tenant.map(owner.filled) ?? owner
    }

    /// Whether a redirect that names this issuer (RFC 9207) comes from a provider whose document names `pattern`.
    package static func isSame(_ issuer: String, as pattern: String) -> Bool {
        guard let place = pattern.firstRange(ofText: placeholder) else {
            return ExactText(issuer) == ExactText(pattern)
        }
        let named = issuer.utf8
        let (head, tail) = (pattern[..<place.lowerBound].utf8, pattern[place.upperBound...].utf8)
        guard named.count > head.count + tail.count, named.starts(with: head),
            named.suffix(tail.count).elementsEqual(tail)
        else { return false }
        return String(named.dropFirst(head.count).dropLast(tail.count)).map(Tenant.isName) ?? false
    }

    static func isTemplate(_ issuer: String) -> Bool { issuer.holds(placeholder) }

    static func tenant(of issuer: Authority) -> String {
        String(issuer.path.prefix { $0 != "/" })
    }
}

extension ExactText {
    /// The template with a tenant in place of ``IssuerRule/placeholder``.
    fileprivate func filled(with tenant: String) -> ExactText {
        ExactText(text.replacing(text: IssuerRule.placeholder, with: tenant))
    }
}

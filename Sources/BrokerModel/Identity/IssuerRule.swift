import BrokerValues

/// The issuers that an authority's documents may name, and its ID tokens may come from. Pure.
///
/// A generic issuer is the authority itself (OpenID Connect Discovery 1.0, section 4.3). Entra's authorities are not:
/// the document of `common` names a template, and that of a domain the tenant's id.
package struct IssuerRule: Sendable, Equatable {
    package let authority: Authority
    /// As in the discovery document: exact, or with ``IssuerTemplate/placeholder``.
    package let issuer: ExactText

    /// - Returns: nil if this issuer's document cannot be the authority's: it may be another provider's.
    package init?(_ issuer: String, of authority: Authority) {
        guard let named = AuthorityURL(issuer: issuer, isTemplate: true),
            !named.isPlainHTTP || authority.isPlainHTTP, authority.rules.admits(named, for: authority.form)
        else { return nil }
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
        if IssuerTemplate.isTemplate(self.issuer.text) {
            return issuer == IssuerTemplate.issuer(of: tenant, by: self.issuer)
        }
        // The token is filed under its tenant: that must be the issuer's own.
        return issuer == self.issuer
            && AuthorityURL(issuer: issuer.text)?.firstSegment.lowercased() == tenant.lowercased()
    }

    /// Whether a key that is published for one issuer may sign a token of another. Entra's key sets serve many tenants, and name
    /// the owner of each key.
    ///
    /// - Parameters:
    ///   - owner: from the key set; nil if it names none.
    ///   - tenant: the token's own `tid`.
    package func takesKey(of owner: ExactText?, for issuer: ExactText?, tenant: String?) -> Bool {
        guard authority.hasTenants, let owner else { return true }
        return issuer == tenant.map { IssuerTemplate.issuer(of: $0, by: owner) } ?? owner
    }

    /// Whether a redirect that names this issuer (RFC 9207) comes from a provider whose document names `pattern`.
    package static func isSame(_ issuer: String, as pattern: String) -> Bool {
        guard let place = pattern.firstRange(ofText: IssuerTemplate.placeholder) else {
            return ExactText(issuer) == ExactText(pattern)
        }
        let named = issuer.utf8
        let (head, tail) = (pattern[..<place.lowerBound].utf8, pattern[place.upperBound...].utf8)
        guard named.count > head.count + tail.count, named.starts(with: head),
            named.suffix(tail.count).elementsEqual(tail)
        else { return false }
        return String(named.dropFirst(head.count).dropLast(tail.count)).map(Tenant.isName) ?? false
    }
}

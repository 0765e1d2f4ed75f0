/// The common parts of Microsoft's identity platform: Entra, B2C and External ID.
protocol EntraFamily: ProviderRules {}

extension EntraFamily {
    package var hasHostWideClients: Bool { true }
    /// They use version 2 of the protocol.
    package var protocolPath: String { "/v2.0" }
    package var asksClientInfo: Bool { true }
    /// They use the login hint.
    package var takesIDTokenHint: Bool { false }
    package var takesOfflineAccess: Bool { true }
    package var takesRequestID: Bool { true }
    package var grantsFollowConsent: Bool { true }
    package var scopesNameResources: Bool { true }

    package func meaning(of refusal: OAuthRefusal) -> RefusedGrant { EntraRefusals.meaning(of: refusal) }

    /// The ID token describes the user in the tenant, where a guest has another identity.
    package func home(of claims: IDTokenClaims, sent: HomeAccountID?) -> HomeAccountID {
        if let sent { return sent }
        if let object = claims["oid"], !object.isEmpty, let tenant = claims["tid"], !tenant.isEmpty {
            return HomeAccountID(userID: object, tenantID: tenant)
        }
        return HomeAccountID(subject: claims.subject.text, issuer: claims.issuer.text)
    }

    func tenant(in url: AuthorityURL) throws(InvalidAuthority) -> Tenant {
        let names = url.segmentsWithoutVersion
        guard let name = names.first, !name.isEmpty else { throw .tenantMissing }
        guard names.count == 1, Tenant.isName(name) else { throw .notATenant }
        return Tenant(name)
    }

    /// `TENANT/v2.0`; the tenant must be the authority's if that names one by its id.
    func isTenantPath(_ issuer: AuthorityURL, of tenant: Tenant?) -> Bool {
        let segments = issuer.segments
        guard segments.count == 1 || (segments.count == 2 && segments[1] == "v2.0") else { return false }
        let named = segments[0]
        if named == IssuerTemplate.placeholder { return true }
        guard Tenant.isName(named) else { return false }
        if case .id(let wanted) = tenant { return named.lowercased() == wanted }
        return true
    }
}

extension AuthorityURL {
    var segmentsWithoutVersion: [String] {
        let segments = segments
        return segments.last?.lowercased() == "v2.0" ? Array(segments.dropLast()) : segments
    }
}

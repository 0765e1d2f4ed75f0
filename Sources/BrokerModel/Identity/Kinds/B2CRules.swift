/// Azure AD B2C. A policy (user flow) is its own issuer, so there are no tenants.
struct B2CRules: EntraFamily {
    private static let hosts = ".b2clogin.com"
    /// The form `/tfp/TENANT/POLICY`.
    static let policyPrefix = "tfp"

    func recognizes(_ url: AuthorityURL) -> Bool {
        if url.host.hasSuffix(Self.hosts) { return true }
        guard url.firstSegment.lowercased() == Self.policyPrefix, !CIAMRules().recognizes(url) else { return false }
        // At Entra's hosts the form does not matter; elsewhere it may be a custom domain.
        return EntraCloud.environment(of: url.host) != nil || url.segmentsWithoutVersion.count == 3
    }

    func form(of url: AuthorityURL) throws(InvalidAuthority) -> AuthorityForm {
        let lowered = url.segmentsWithoutVersion.map { $0.lowercased() }
        let names = lowered.first == Self.policyPrefix ? Array(lowered.dropFirst()) : lowered
        guard names.count == 2, names.allSatisfy(Tenant.isName) else { throw .policyMissing }
        return AuthorityForm(of: url, environment: EntraCloud.canonical(url.host), path: lowered.joined(separator: "/"))
    }

    func admits(_ issuer: AuthorityURL, for authority: AuthorityForm) -> Bool {
        EntraCloud.canonical(issuer.host) == authority.environment && !IssuerTemplate.isTemplate(issuer.path)
    }

    /// Most of B2C's refusals have neither number nor suberror. Then only the error codes of RFC 6749 are available.
    func meaning(of refusal: OAuthRefusal) -> RefusedGrant {
        let isBare = refusal.errorCodes.isEmpty && (refusal.subError ?? "").isEmpty
        return isBare ? .standard(refusal) : EntraRefusals.meaning(of: refusal)
    }
}

/// Microsoft Entra ID: tenants in Microsoft's clouds.
struct EntraRules: EntraFamily {
    let hasClouds = true

    func recognizes(_ url: AuthorityURL) -> Bool {
        EntraCloud.environment(of: url.host) != nil && url.firstSegment.lowercased() != B2CRules.policyPrefix
    }

    func form(of url: AuthorityURL) throws(InvalidAuthority) -> AuthorityForm {
        let tenant = try tenant(in: url)
        return AuthorityForm(of: url, environment: EntraCloud.canonical(url.host), path: tenant.name, tenant: tenant)
    }

    func admits(_ issuer: AuthorityURL, for authority: AuthorityForm) -> Bool {
        EntraCloud.canonical(issuer.host) == authority.environment
            && isTenantPath(issuer, of: authority.tenant)
    }
}

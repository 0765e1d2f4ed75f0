/// Microsoft Entra ID: tenants in Microsoft's clouds.
struct EntraRules: EntraFamily {
    let hasClouds = true

    func recognizes(_ url: AuthorityURL) -> Bool {
        EntraCloud.environment(of: url.host) != nil && !url.begins(with: B2CRules.policyPrefix)
    }

    func form(of url: AuthorityURL) throws(Authority.Invalid) -> AuthorityForm {
        let tenant = try tenant(in: url)
        return AuthorityForm(environment: EntraCloud.canonical(url.host), path: tenant.name, tenant: tenant)
    }

    func admits(_ issuer: Authority, for authority: Authority) -> Bool {
        EntraCloud.canonical(issuer.environment) == authority.environment
            && isTenantPath(issuer, of: authority.tenant)
    }
}

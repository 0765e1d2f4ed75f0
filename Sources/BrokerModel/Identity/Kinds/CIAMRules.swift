/// Entra External ID: a host for each tenant.
struct CIAMRules: EntraFamily {
    private static let hosts = ".ciamlogin.com"

    func recognizes(_ url: AuthorityURL) -> Bool { url.host.hasSuffix(Self.hosts) }

    func form(of url: AuthorityURL) throws(InvalidAuthority) -> AuthorityForm {
        let tenant: Tenant
        if url.path.isEmpty, url.host.hasSuffix(Self.hosts) {
            tenant = .domain(url.host.dropLast(Self.hosts.count) + ".onmicrosoft.com")
        } else {
            tenant = try self.tenant(in: url)
        }
        return AuthorityForm(of: url, environment: url.host, path: tenant.name, tenant: tenant)
    }

    /// The issuer's host is the authority's, or is named by the tenant's id.
    func admits(_ issuer: AuthorityURL, for authority: AuthorityForm) -> Bool {
        let named = issuer.firstSegment.lowercased() + Self.hosts
        guard issuer.host == authority.environment || issuer.host == named else { return false }
        return isTenantPath(issuer, of: authority.tenant)
    }
}

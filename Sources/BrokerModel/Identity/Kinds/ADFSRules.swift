/// Active Directory Federation Services.
struct ADFSRules: ProviderRules {
    private static let path = "adfs"

    let hasHostWideClients = true
    let takesOfflineAccess = true
    let scopesNameResources = true

    func recognizes(_ url: AuthorityURL) -> Bool { url.path.lowercased() == Self.path }

    func form(of url: AuthorityURL) throws(InvalidAuthority) -> AuthorityForm {
        guard url.path.lowercased() == Self.path else { throw .notADFS }
        return AuthorityForm(of: url, environment: url.host, path: Self.path)
    }

    func admits(_ issuer: AuthorityURL, for authority: AuthorityForm) -> Bool {
        EntraCloud.canonical(issuer.host) == authority.environment && !IssuerTemplate.isTemplate(issuer.path)
    }
}

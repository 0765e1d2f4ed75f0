/// Active Directory Federation Services.
struct ADFSRules: ProviderRules {
    private static let path = "adfs"

    let hasHostWideClients = true
    let takesOfflineAccess = true
    let scopesNameResources = true

    func recognizes(_ url: AuthorityURL) -> Bool { url.path.lowercased() == Self.path }

    func form(of url: AuthorityURL) throws(Authority.Invalid) -> AuthorityForm {
        guard url.path.lowercased() == Self.path else { throw .notADFS }
        return AuthorityForm(environment: url.host, path: Self.path)
    }

    func admits(_ issuer: Authority, for authority: Authority) -> Bool {
        EntraCloud.canonical(issuer.environment) == authority.environment && !IssuerRule.isTemplate(issuer.path)
    }
}

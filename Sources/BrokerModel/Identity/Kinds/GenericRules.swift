/// Any OpenID provider or OAuth authorization server, found by discovery.
struct GenericRules: ProviderRules {
    let alwaysHasOpenIDDocument = false

    func recognizes(_ url: AuthorityURL) -> Bool { true }

    func form(of url: AuthorityURL) -> AuthorityForm { AuthorityForm(of: url, environment: url.host, path: url.path) }

    /// OpenID Connect Discovery 1.0, section 4.3.
    func admits(_ issuer: AuthorityURL, for authority: AuthorityForm) -> Bool { issuer.text == authority.url }
}

/// An authority as its kind of provider interprets it, normalized.
package struct AuthorityForm: Sendable, Hashable {
    let url: String
    let environment: String
    let path: String
    /// `nil` if there are no tenants.
    let tenant: Tenant?

    init(isPlainHTTP: Bool, environment: String, path: String, tenant: Tenant? = nil) {
        url = AuthorityURL.text(isPlainHTTP: isPlainHTTP, host: environment, path: path)
        (self.environment, self.path, self.tenant) = (environment, path, tenant)
    }

    init(of url: AuthorityURL, environment: String, path: String, tenant: Tenant? = nil) {
        self.init(isPlainHTTP: url.isPlainHTTP, environment: environment, path: path, tenant: tenant)
    }
}

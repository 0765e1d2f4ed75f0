/// An account in one tenant (protocol.md, `Account.tenantProfiles`): a guest has one in every tenant they signed in to.
package struct TenantProfile: Codable, Sendable, Hashable {
    package var tenantId: String
    /// The issuer URL of the tenant.
    package var authority: String
    package var username: String?
    package var name: String?
    package var isHomeTenant: Bool
    /// The claims of the tenant's ID token, as in ``Account/claims``.
    package var claims: JSONObject?

    package init(
        tenantId: String, authority: String, username: String? = nil, name: String? = nil, isHomeTenant: Bool,
        claims: JSONObject? = nil
    ) {
        self.tenantId = tenantId
        self.authority = authority
        self.username = username
        self.name = name
        self.isHomeTenant = isHomeTenant
        self.claims = claims
    }
}

/// A user at an identity provider, as apps see them (protocol.md, `Account`).
package struct Account: Codable, Sendable, Hashable {
    /// An opaque id, which is stable for as long as the account exists, also across sign-out and sign-in.
    package var id: String
    /// The user's sign-in name: `preferred_username`, else `email`, else `upn`, else the subject.
    package var username: String
    package var name: String?
    /// The host of the authority, with its port unless that is the scheme's default; one name for all aliases of a cloud.
    package var environment: String
    package var tenantId: String?
    /// `uid.utid` for Entra; subject and issuer for other providers.
    package var homeAccountId: String
    package var authority: String
    package var signedIn: Bool
    /// When the last token of a sign-in without a refresh token ends; `nil` if it can be renewed, or this was not checked.
    package var signInEndsOn: NumericDate?
    /// The ID token's claims, without those that only protect the token (`nonce`, `at_hash`, `c_hash`, `aio` …).
    package var claims: JSONObject?
    /// If one user has tokens of several tenants: all of them, the home tenant (or else the first) in front.
    package var tenantProfiles: [TenantProfile]?

    package init(
        id: String, username: String, name: String? = nil, environment: String, tenantId: String? = nil,
        homeAccountId: String, authority: String, signedIn: Bool = true, claims: JSONObject? = nil
    ) {
        self.id = id
        self.username = username
        self.name = name
        self.environment = environment
        self.tenantId = tenantId
        self.homeAccountId = homeAccountId
        self.authority = authority
        self.signedIn = signedIn
        self.claims = claims
    }
}

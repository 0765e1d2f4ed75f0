import BrokerValues

/// A person at an identity provider (MSAL: `MSALAccount`).
///
/// Keep ``identifier`` to find the account again; usernames change.
public struct Account: Sendable, Hashable {
    /// Opaque; stable for as long as the account exists, also across sign-out and sign-in.
    public let identifier: String
    /// The name that the person signs in with.
    public let username: String
    /// The person's display name, if the provider gave one.
    public let name: String?
    /// Host of the authority, and its port unless it is the scheme's default.
    public let environment: String
    /// The tenant, for providers that have tenants.
    public let tenantId: String?
    /// The account's id at the provider: `uid.utid` for Entra, subject and issuer for the others.
    public let homeAccountId: String
    /// The issuer that vouches for the account.
    public let authority: String
    /// False for an account that was signed out and is still remembered.
    public let isSignedIn: Bool
    /// The claims of the last ID token about the person (MSAL: `accountClaims`).
    public let accountClaims: Claims
    /// The account in each tenant it has signed in to, its home first; empty at providers without tenants (MSAL:
    /// `tenantProfiles`).
    public let tenantProfiles: [TenantProfile]

    package init(_ account: BrokerValues.Account) {
        identifier = account.id
        username = account.username
        name = account.name
        environment = account.environment
        tenantId = account.tenantId
        homeAccountId = account.homeAccountId
        authority = account.authority
        isSignedIn = account.signedIn
        accountClaims = Claims(account.claims ?? [:])
        tenantProfiles = (account.tenantProfiles ?? []).map { TenantProfile($0, of: account) }
    }
}

/// An account in one tenant, with the claims of that tenant's ID token (MSAL: `MSALTenantProfile`).
public struct TenantProfile: Sendable, Hashable {
    /// The account's ``Account/identifier``.
    public let identifier: String
    /// Host of the authority.
    public let environment: String
    /// The tenant, for providers that have tenants.
    public let tenantId: String?
    /// The tenant's own issuer.
    public let authority: String
    /// The person's username in the tenant.
    public let username: String?
    /// The person's display name in the tenant.
    public let name: String?
    /// False if the person is a guest (MSAL: `isHomeTenantProfile`).
    public let isHomeTenant: Bool
    /// The ID token's claims.
    public let claims: Claims
}

extension TenantProfile {
    init(_ profile: BrokerValues.TenantProfile, of account: BrokerValues.Account) {
        identifier = account.id
        environment = account.environment
        tenantId = profile.tenantId
        authority = profile.authority
        username = profile.username
        name = profile.name
        isHomeTenant = profile.isHomeTenant
        claims = Claims(profile.claims ?? [:])
    }

    /// At a provider without tenants the account has one profile: itself.
    package init(_ account: Account) {
        identifier = account.identifier
        environment = account.environment
        tenantId = account.tenantId
        authority = account.authority
        username = account.username
        name = account.name
        isHomeTenant = true
        claims = account.accountClaims
    }
}

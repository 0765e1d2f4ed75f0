// What the library has in common with brokerctl: accounts, errors, browsers. An app imports one module and sees all of it; brokerctl
// has no Foundation, which dates and localized errors here come from (decision 102).
@_exported import BrokerLink

// In the library these names mean what an app sees, not the protocol's values.

/// A person at an identity provider (MSAL: `MSALAccount`).
public typealias Account = BrokerLink.Account
/// An account in one tenant, with what that tenant's ID token said (MSAL: `MSALTenantProfile`).
public typealias TenantProfile = BrokerLink.TenantProfile

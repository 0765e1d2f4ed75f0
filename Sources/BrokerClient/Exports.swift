// The part of the library that brokerctl shares: accounts, errors, browsers. An app imports one module and sees all of it; brokerctl
// has no Foundation, which provides dates and localized errors here (decision 1).
@_exported import BrokerLink

// In the library these names refer to the public types, not to the protocol's values.

/// A person at an identity provider (MSAL: `MSALAccount`).
public typealias Account = BrokerLink.Account
/// An account in one tenant, with the claims of that tenant's ID token (MSAL: `MSALTenantProfile`).
public typealias TenantProfile = BrokerLink.TenantProfile

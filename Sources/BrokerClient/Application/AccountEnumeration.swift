/// Selects the accounts that ``PublicClientApplication/accounts(for:)`` lists (MSAL: `MSALAccountEnumerationParameters`).
///
/// Omitted criteria restrict nothing.
public struct AccountEnumerationParameters: Sendable, Hashable {
    /// The ``Account/identifier`` of an earlier account.
    public var identifier: String?
    /// The name that the person signs in with, case-insensitive.
    public var username: String?
    /// A tenant that the account has signed in to, as a member or as a guest (MSAL: `tenantProfileIdentifier`).
    public var tenantId: String?
    /// Whether accounts that have signed out, and are still remembered, are left out (MSAL: `returnOnlySignedInAccounts`); see
    /// ``Account/isSignedIn``.
    public var returnOnlySignedInAccounts = true

    /// Selects all signed-in accounts that match the given criteria.
    ///
    /// - Parameters:
    ///   - identifier: an ``Account/identifier``.
    ///   - username: the name that the person signs in with.
    ///   - tenantId: a tenant that the person has signed in to.
    public init(identifier: String? = nil, username: String? = nil, tenantId: String? = nil) {
        self.identifier = identifier
        self.username = username
        self.tenantId = tenantId
    }

    func fit(_ account: Account) -> Bool {
        if let identifier, account.identifier != identifier { return false }
        if let username, account.username.lowercased() != username.lowercased() { return false }
        if let tenantId, account.tenantId != tenantId {
            return account.tenantProfiles.contains { $0.tenantId == tenantId }
        }
        return true
    }
}

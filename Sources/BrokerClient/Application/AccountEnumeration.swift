/// Whom ``PublicClientApplication/accounts(for:)`` lists (MSAL: `MSALAccountEnumerationParameters`).
///
/// What is left out restricts nothing.
public struct AccountEnumerationParameters: Sendable, Hashable {
    /// An ``Account/identifier``, as kept from an earlier account.
    public var identifier: String?
    /// What the person types to sign in, in any case of letters.
    public var username: String?
    /// Who has signed in to this tenant, at home there or as a guest (MSAL: `tenantProfileIdentifier`).
    public var tenantId: String?
    /// False lists those, too, who signed out and are still remembered; see ``Account/isSignedIn``.
    public var returnOnlySignedInAccounts = true

    /// All who are signed in, unless restricted.
    ///
    /// - Parameters:
    ///   - identifier: an ``Account/identifier``.
    ///   - username: what the person types to sign in.
    ///   - tenantId: a tenant the person has signed in to.
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

import BrokerModel
import BrokerValues

/// One account of a group, in one tenant. Immutable: results derived from it may be cached with it.
package final class KnownAccount: Sendable {
    package let stored: StoredRecord<AccountRecord>
    /// The apps' view: the person, with the profiles of all tenants.
    package let account: Account
    /// False for a person's further tenants; the person is listed and chosen once.
    package let isPrimary: Bool
    /// The tenant in which an account at Entra was created; `nil` for other accounts.
    package let homeTenant: String?
    /// ``account`` as encoded in responses.
    package let written = LazyBytes()

    init(_ stored: StoredRecord<AccountRecord>, as account: Account, isPrimary: Bool) {
        self.stored = stored
        self.account = account
        self.isPrimary = isPrimary
        homeTenant = stored.record.homeAccountID.homeTenant
    }
}

extension KnownAccount {
    /// - Parameter id: the person's id from ``BrokerModel/RecordVault/accountID(of:at:in:)``.
    package convenience init(_ stored: StoredRecord<AccountRecord>, id: String) {
        self.init(stored, as: Self.account(of: stored, id: id), isPrimary: true)
    }

    package convenience init(_ stored: StoredRecord<AccountRecord>, in vault: any RecordVault) throws(VaultError) {
        let record = stored.record
        self.init(
            stored,
            id: try vault.accountID(
                of: record.homeAccountID, at: record.environment, in: stored.sealed.partition))
    }

    /// The account without the profiles of other tenants.
    var ownAccount: Account { Self.account(of: stored, id: account.id) }

    private static func account(of stored: StoredRecord<AccountRecord>, id: String) -> Account {
        let record = stored.record
        return Account(
            id: id, username: record.username, name: record.name, environment: record.environment,
            tenantId: record.tenantID,
            homeAccountId: record.homeAccountID.rawValue, authority: record.authority, signedIn: record.signedIn,
            claims: record.claims.isEmpty ? nil : record.claims)
    }

    package func matches(_ selector: AccountReference) -> Bool {
        account.matches(selector, in: stored.sealed.partition)
    }

    /// Whether it is the same person, in any tenant and any group.
    package func isPerson(of account: AccountRecord) -> Bool {
        stored.record.homeAccountID == account.homeAccountID && stored.record.environment == account.environment
    }

    /// Whether the record is the person's in one tenant of several.
    package var isTenantProfile: Bool {
        homeTenant != nil && stored.record.tenantID?.lowercased() == stored.record.realm
    }

    /// Whether the account can be used at an authority. With tenants, an account of the same cloud fits whatever tenant is
    /// requested; elsewhere a host may have several issuers, distinguished by their paths.
    package func fits(_ authority: Authority, _ otherClouds: Set<String>) -> Bool {
        let environment = stored.record.environment
        guard environment == authority.environment || otherClouds.contains(environment) else { return false }
        return authority.hasTenants ? isTenantProfile : stored.record.realm == authority.path
    }
}

extension Account {
    package func matches(_ selector: AccountReference, in partition: Partition) -> Bool {
        switch selector {
        case .id(let id) where HomeAccountID.isEarlier(accountID: id):
            HomeAccountID(rawValue: homeAccountId).earlierAccountID(in: partition, environment: environment) == id
        case .id(let id): self.id == id
        case .username(let name): isCalled(name)
        }
    }

    /// Whether this is its username in any tenant; compared without case.
    package func isCalled(_ name: String) -> Bool {
        let name = name.lowercased()
        return username.lowercased() == name
            || tenantProfiles?.contains { $0.username?.lowercased() == name } ?? false
    }
}

import BrokerModel
import BrokerValues

/// The accounts of one group in memory.
package struct KnownAccounts: Sendable {
    package struct Entry: Sendable {
        package let stored: StoredRecord<AccountRecord>
        /// What apps see: the person, with the profiles of all tenants.
        package var account: Account
        /// False for the further tenants of a person, who is listed and chosen once.
        package var isPrimary = true
        /// Of an account at Entra: where it was made.
        package let homeTenant: String?
    }

    /// An account that one app may not use silently.
    package struct SignOut: Sendable, Hashable {
        package let app: String
        package let homeAccountID: HomeAccountID
        package let environment: String
    }

    /// In the order they were first seen.
    package var entries: [Entry] = [] { didSet { entries = TenantProfiles.merged(entries) } }
    package private(set) var signOuts: [SignOut: StoredRecord<SignOutRecord>] = [:]

    package init(_ accounts: [StoredRecord<AccountRecord>] = [], signOuts: [StoredRecord<SignOutRecord>] = []) {
        entries = TenantProfiles.merged(Self.sorted(accounts.map(Entry.init)))
        for signOut in signOuts { apply(.put(signOut)) }
    }

    package func isSignedIn(_ entry: Entry, for app: AppRegistration) -> Bool {
        isSignedIn(entry, for: app.identity)
    }

    /// - Parameter app: ``AppRegistration/identity``.
    package func isSignedIn(_ entry: Entry, for app: String) -> Bool {
        entry.stored.record.signedIn && signOut(of: entry.stored.record, from: app) == nil
    }

    /// Whether the account of a record about to be written is there already, and signed in.
    func hasSignedIn(_ record: AccountRecord, for app: String) -> Bool {
        entries.contains { $0.stored.record.key == record.key && isSignedIn($0, for: app) }
    }

    /// - Parameter app: ``AppRegistration/identity``.
    func signOut(of account: AccountRecord, from app: String) -> StoredRecord<SignOutRecord>? {
        signOuts[SignOut(app: app, homeAccountID: account.homeAccountID, environment: account.environment)]
    }

    /// The people whom a request can be for, as they were first seen. Lazy: part of the hot path.
    ///
    /// - Parameter otherClouds: environments whose accounts fit as well (``CloudRules``).
    func people(at authority: Authority, otherClouds: Set<String>) -> LazyFilterSequence<[Entry]> {
        entries.lazy.filter { $0.isPrimary && $0.fits(authority, otherClouds) }
    }

    /// The person in each tenant that the group knows them in.
    func profiles(of account: AccountRecord) -> [Entry] { entries.filter { $0.isPerson(of: account) } }
}

// MARK: - Changes

extension KnownAccounts {
    package mutating func apply(_ action: CacheChange.Action<AccountRecord>) {
        var changed = entries
        changed.apply(action, at: \.stored.sealed, Entry.init)
        entries = Self.sorted(changed)
    }

    package mutating func apply(_ action: CacheChange.Action<SignOutRecord>) {
        signOuts[SignOut(action.record)] = action.put
    }

    /// Removes a person: the account in each tenant, and which apps were signed out of it.
    func deletion(of account: AccountRecord) -> [CacheChange.Row] {
        profiles(of: account).map { .account(.delete($0.stored)) }
            + signOuts.values
            .filter {
                $0.record.homeAccountID == account.homeAccountID && $0.record.environment == account.environment
            }
            .map { .signOut(.delete($0)) }
    }

    static func sorted(_ entries: [Entry]) -> [Entry] {
        entries.sorted {
            let (left, right) = ($0.stored.record, $1.stored.record)
            return (left.createdAt, left.username, $0.account.id) < (right.createdAt, right.username, $1.account.id)
        }
    }
}

extension KnownAccounts.SignOut {
    fileprivate init(_ record: SignOutRecord) {
        self.init(app: record.app, homeAccountID: record.homeAccountID, environment: record.environment)
    }
}

// MARK: - Entries

extension KnownAccounts.Entry {
    package init(_ stored: StoredRecord<AccountRecord>) {
        self.stored = stored
        homeTenant = stored.record.homeAccountID.homeTenant
        account = Self.account(of: stored)
    }

    /// Without the other tenants.
    var ownAccount: Account { Self.account(of: stored) }

    private static func account(of stored: StoredRecord<AccountRecord>) -> Account {
        let record = stored.record
        return Account(
            id: record.homeAccountID.accountID(in: stored.sealed.partition, environment: record.environment),
            username: record.username, name: record.name, environment: record.environment, tenantId: record.tenantID,
            homeAccountId: record.homeAccountID.rawValue, authority: record.authority, signedIn: record.signedIn,
            claims: record.claims.isEmpty ? nil : record.claims)
    }

    package func matches(_ selector: AccountReference) -> Bool { account.matches(selector) }

    /// Whether the record is the person's in one tenant of several.
    package var isTenantProfile: Bool {
        homeTenant != nil && stored.record.tenantID?.lowercased() == stored.record.realm
    }

    /// In whichever tenant, and whichever group.
    func isPerson(of account: AccountRecord) -> Bool {
        stored.record.homeAccountID == account.homeAccountID && stored.record.environment == account.environment
    }

    /// Where there are tenants, an account of the same cloud fits whatever tenant is asked for; elsewhere a host may have
    /// several issuers, told apart by their paths.
    func fits(_ authority: Authority, _ otherClouds: Set<String>) -> Bool {
        let environment = stored.record.environment
        guard environment == authority.environment || otherClouds.contains(environment) else { return false }
        return authority.hasTenants ? isTenantProfile : stored.record.realm == authority.path
    }
}

extension Account {
    package func matches(_ selector: AccountReference) -> Bool {
        switch selector {
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

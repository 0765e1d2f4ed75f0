import BrokerModel
import BrokerValues

/// The accounts of one group in memory. A copy costs next to nothing, and so does a change, however many people there are.
package struct KnownAccounts: Sendable {
    /// It never changes: what is told of it may be remembered beside it.
    package final class Entry: Sendable {
        package let stored: StoredRecord<AccountRecord>
        /// What apps see: the person, with the profiles of all tenants.
        package let account: Account
        /// False for the further tenants of a person, who is listed and chosen once.
        package let isPrimary: Bool
        /// Of an account at Entra: where it was made.
        package let homeTenant: String?
        /// ``account`` as answers have it.
        package let written = LazyBytes()

        init(_ stored: StoredRecord<AccountRecord>, as account: Account, isPrimary: Bool) {
            self.stored = stored
            self.account = account
            self.isPrimary = isPrimary
            homeTenant = stored.record.homeAccountID.homeTenant
        }
    }

    /// Who a person is at a provider; in whichever tenant.
    struct PersonKey: Sendable, Hashable {
        let homeAccountID: HomeAccountID
        let environment: String
    }

    /// All that the group knows of one person.
    struct Person: Sendable {
        /// One for each tenant, as they were first seen.
        var entries: [Entry] = []
        /// By ``AppRegistration/identity``: the apps that may not use the account silently.
        var signOuts: [String: StoredRecord<SignOutRecord>] = [:]

        var isEmpty: Bool { entries.isEmpty && signOuts.isEmpty }

        var weight: Int {
            entries.reduce(0) { $0 + $1.stored.sealed.weight } + signOuts.values.reduce(0) { $0 + $1.sealed.weight }
        }

        /// What a request may call the person by.
        var names: Set<String> {
            Set(entries.flatMap { [$0.account.id, $0.stored.record.username.lowercased()] })
        }
    }

    private(set) var people = ShardedDictionary<PersonKey, Person>()
    /// By account id and by username in lower case; a username may be several people's.
    private(set) var called = ShardedDictionary<String, [PersonKey]>()
    /// Roughly the bytes it takes.
    package private(set) var weight = 0

    /// What the people of one group may come to before another one is refused. A group is in memory whole.
    package static let mostWeight = 32 << 20

    var isFull: Bool { weight >= Self.mostWeight }

    package init(_ entries: [Entry] = [], signOuts: [StoredRecord<SignOutRecord>] = []) {
        for (key, entries) in Dictionary(grouping: entries, by: { PersonKey($0.stored.record) }) {
            change(key) { $0.entries = TenantProfiles.merged(Self.sorted(entries)) }
        }
        for signOut in signOuts { apply(.put(signOut)) }
    }

    package var isEmpty: Bool { people.count == 0 }

    /// In the order they were first seen. For lists and sign-ins: it sorts all of them.
    package var entries: [Entry] { Self.sorted(people.values.flatMap(\.entries)) }

    /// For tests: whose sign-outs there are.
    package var signOuts: [StoredRecord<SignOutRecord>] { people.values.flatMap(\.signOuts.values) }

    package func isSignedIn(_ entry: Entry, for app: AppRegistration) -> Bool {
        isSignedIn(entry, for: app.identity)
    }

    /// - Parameter app: ``AppRegistration/identity``.
    package func isSignedIn(_ entry: Entry, for app: String) -> Bool {
        entry.stored.record.signedIn && signOut(of: entry.stored.record, from: app) == nil
    }

    /// - Parameter app: ``AppRegistration/identity``.
    func hasSignOut(of person: PersonKey, from app: String) -> Bool { people[person]?.signOuts[app] != nil }

    /// Whether the account of a record about to be written is there already, and signed in.
    func hasSignedIn(_ record: AccountRecord, for app: String) -> Bool {
        entry(of: record).map { isSignedIn($0, for: app) } ?? false
    }

    /// - Parameter app: ``AppRegistration/identity``.
    func signOut(of account: AccountRecord, from app: String) -> StoredRecord<SignOutRecord>? {
        people[PersonKey(account)]?.signOuts[app]
    }

    /// The very account, in its tenant.
    func entry(of record: AccountRecord) -> Entry? {
        profiles(of: record).first { $0.stored.record.key == record.key }
    }

    /// The person in each tenant that the group knows them in.
    func profiles(of account: AccountRecord) -> [Entry] { profiles(of: PersonKey(account)) }

    func profiles(of person: PersonKey) -> [Entry] { people[person]?.entries ?? [] }
}

/// Room for the people whom one change brings to groups (``KnownAccounts/mostWeight``).
struct AccountRoom {
    /// What groups will come to.
    private var weights: [GroupID: Int] = [:]

    /// - Returns: whether the record may come.
    mutating func take(_ sealed: SealedRecord, in group: GroupID, of known: KnownAccounts) -> Bool {
        let weight = weights[group] ?? known.weight
        guard weight < KnownAccounts.mostWeight else { return false }
        weights[group] = weight + sealed.weight
        return true
    }
}

// MARK: - Changes

extension KnownAccounts {
    /// - Parameter entry: made of what is put.
    package mutating func apply(_ action: CacheChange.Action<AccountRecord>, _ entry: Entry?) {
        change(PersonKey(action.record)) { person in
            let others = person.entries.filter { $0.stored.sealed.rowKey != action.stored.sealed.rowKey }
            let changed = others + [entry].compactMap(\.self)
            person.entries = TenantProfiles.merged(Self.sorted(changed))
        }
    }

    package mutating func apply(_ action: CacheChange.Action<SignOutRecord>) {
        let record = action.record
        change(PersonKey(homeAccountID: record.homeAccountID, environment: record.environment)) {
            $0.signOuts[record.app] = action.put
        }
    }

    private mutating func change(_ key: PersonKey, _ change: (inout Person) -> Void) {
        let before = people[key] ?? Person()
        var person = before
        change(&person)
        people[key] = person.isEmpty ? nil : person
        weight += person.weight - before.weight
        let (old, new) = (before.names, person.names)
        for name in old.subtracting(new) {
            let others = (called[name] ?? []).filter { $0 != key }
            called[name] = others.isEmpty ? nil : others
        }
        for name in new.subtracting(old) { called[name] = (called[name] ?? []) + [key] }
    }

    /// Removes a person: the account in each tenant, and which apps were signed out of it.
    func deletion(of account: AccountRecord) -> [CacheChange.Row] { deletion(of: PersonKey(account)) }

    /// - Parameter person: nil for everybody.
    func deletion(of person: PersonKey?) -> [CacheChange.Row] {
        let gone = person.map { [people[$0]].compactMap(\.self) } ?? Array(people.values)
        return gone.flatMap { person in
            person.entries.map { .account(.delete($0.stored)) }
                + person.signOuts.values.map { .signOut(.delete($0)) }
        }
    }

    static func sorted(_ entries: [Entry]) -> [Entry] {
        guard entries.count > 1 else { return entries }
        return entries.sorted {
            let (left, right) = ($0.stored.record, $1.stored.record)
            return (left.createdAt, left.username, $0.account.id) < (right.createdAt, right.username, $1.account.id)
        }
    }
}

extension KnownAccounts.PersonKey {
    init(_ account: AccountRecord) {
        self.init(homeAccountID: account.homeAccountID, environment: account.environment)
    }
}

// MARK: - Entries

extension KnownAccounts.Entry {
    /// - Parameter id: what ``BrokerModel/RecordVault/accountID(of:at:in:)`` calls the person.
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

    /// Without the other tenants.
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

    /// In whichever tenant, and whichever group.
    func isPerson(of account: AccountRecord) -> Bool {
        stored.record.homeAccountID == account.homeAccountID && stored.record.environment == account.environment
    }

    /// Whether the record is the person's in one tenant of several.
    package var isTenantProfile: Bool {
        homeTenant != nil && stored.record.tenantID?.lowercased() == stored.record.realm
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

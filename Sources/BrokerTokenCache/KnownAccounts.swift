import BrokerModel
import BrokerValues

/// The accounts of one group in memory. Copies and changes are cheap, however many people there are.
package struct KnownAccounts: Sendable {
    /// The identity of a person at a provider, in any tenant.
    package struct PersonKey: Sendable, Hashable {
        package let homeAccountID: HomeAccountID
        package let environment: String

        package init(homeAccountID: HomeAccountID, environment: String) {
            (self.homeAccountID, self.environment) = (homeAccountID, environment)
        }
    }

    /// Everything that the group knows of one person.
    struct Person: Sendable {
        /// The person's accounts, one for each tenant, in the order in which they were first seen.
        var entries: [KnownAccount] = []
        /// The sign-outs of apps, which may not use the account silently, by ``AppRegistration/identity``.
        var signOuts: [String: StoredRecord<SignOutRecord>] = [:]

        var isEmpty: Bool { entries.isEmpty && signOuts.isEmpty }

        var weight: Int {
            entries.reduce(0) { $0 + $1.stored.sealed.weight } + signOuts.values.reduce(0) { $0 + $1.sealed.weight }
        }

        /// The names by which a request may refer to the person.
        var names: Set<String> {
            Set(entries.flatMap { [$0.account.id, $0.stored.record.username.lowercased()] })
        }
    }

    private(set) var people = ShardedDictionary<PersonKey, Person>()
    /// The people by account id and by username in lower case; several people may share a username.
    private(set) var called = ShardedDictionary<String, [PersonKey]>()
    /// Approximate bytes in memory.
    package private(set) var weight = 0

    /// The limit for the people of one group; beyond it a new one is refused. A group is in memory as a whole.
    package static let maximumWeight = 32 << 20

    package var isFull: Bool { weight >= Self.maximumWeight }

    package init(_ entries: [KnownAccount] = [], signOuts: [StoredRecord<SignOutRecord>] = []) {
        for (key, entries) in Dictionary(grouping: entries, by: { PersonKey($0.stored.record) }) {
            change(key) { $0.entries = TenantProfiles.merged(Self.sorted(entries)) }
        }
        for signOut in signOuts { apply(.put(signOut)) }
    }

    package var isEmpty: Bool { people.count == 0 }

    /// All accounts, in the order in which they were first seen. It sorts all of them: use it for lists and sign-ins.
    package var entries: [KnownAccount] { Self.sorted(people.values.flatMap(\.entries)) }

    package func isSignedIn(_ entry: KnownAccount, for app: AppRegistration) -> Bool {
        isSignedIn(entry, for: app.identity)
    }

    /// - Parameter app: ``AppRegistration/identity``.
    package func isSignedIn(_ entry: KnownAccount, for app: String) -> Bool {
        entry.account.signedIn && signOut(of: entry.stored.record, from: app) == nil
    }

    /// - Parameter app: ``AppRegistration/identity``.
    package func hasSignOut(of person: PersonKey, from app: String) -> Bool { people[person]?.signOuts[app] != nil }

    /// Whether the person is known and signed out of all apps.
    package func hasSignedOut(_ person: PersonKey) -> Bool {
        let entries = profiles(of: person)
        return !entries.isEmpty && !entries.contains(where: \.account.signedIn)
    }

    /// Whether the person has signed out of a client: of all apps, or of each one that has this client.
    ///
    /// - Parameter apps: all apps, of any group.
    package func hasSignedOut(of owner: TokenOwner, among apps: [AppRegistration]) -> Bool {
        let person = PersonKey(owner)
        guard !hasSignedOut(person) else { return true }
        guard let signOuts = people[person]?.signOuts, !signOuts.isEmpty else { return false }
        let users = apps.filter { $0.effectiveGroup == owner.group && $0.clientID.isExactly(owner.clientID) }
        return !users.isEmpty && users.allSatisfy { signOuts[$0.identity] != nil }
    }

    /// Whether the account of a record about to be written already exists and is signed in.
    package func hasSignedIn(_ record: AccountRecord, for app: String) -> Bool {
        entry(of: record).map { isSignedIn($0, for: app) } ?? false
    }

    /// - Parameter app: ``AppRegistration/identity``.
    package func signOut(of account: AccountRecord, from app: String) -> StoredRecord<SignOutRecord>? {
        people[PersonKey(account)]?.signOuts[app]
    }

    /// The account of exactly this record, in its tenant.
    package func entry(of record: AccountRecord) -> KnownAccount? {
        profiles(of: record).first { $0.stored.record.key == record.key }
    }

    /// The person in each tenant in which the group knows them.
    package func profiles(of account: AccountRecord) -> [KnownAccount] { profiles(of: PersonKey(account)) }

    package func profiles(of person: PersonKey) -> [KnownAccount] { people[person]?.entries ?? [] }
}

/// Room for the people that one change adds to groups (``KnownAccounts/maximumWeight``).
package struct AccountRoom {
    /// The resulting weights of groups.
    private var weights: [GroupID: Int] = [:]

    package init() {}

    /// - Returns: whether the record may be added.
    package mutating func take(_ sealed: SealedRecord, in group: GroupID, of known: KnownAccounts) -> Bool {
        let weight = weights[group] ?? known.weight
        guard weight < KnownAccounts.maximumWeight else { return false }
        weights[group] = weight + sealed.weight
        return true
    }
}

// MARK: - Changes

extension KnownAccounts {
    /// - Parameter entry: the apps' view of the record that is put; `nil` removes it.
    package mutating func apply(_ action: CacheChange.Action<AccountRecord>, _ entry: KnownAccount?) {
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

    /// Removes a person: the account in each tenant, and the apps' sign-outs of it.
    package func deletion(of account: AccountRecord) -> [CacheChange.Row] { deletion(of: PersonKey(account)) }

    /// Removes one person, or all.
    ///
    /// - Parameter person: `nil` for all.
    package func deletion(of person: PersonKey?) -> [CacheChange.Row] {
        let gone = person.map { [people[$0]].compactMap(\.self) } ?? Array(people.values)
        return gone.flatMap { person in
            person.entries.map { .account(.delete($0.stored)) }
                + person.signOuts.values.map { .signOut(.delete($0)) }
        }
    }

    static func sorted(_ entries: [KnownAccount]) -> [KnownAccount] {
        guard entries.count > 1 else { return entries }
        return entries.sorted {
            let (left, right) = ($0.stored.record, $1.stored.record)
            return (left.createdAt, left.username, $0.account.id) < (right.createdAt, right.username, $1.account.id)
        }
    }
}

extension KnownAccounts.PersonKey {
    package func owns(_ owner: TokenOwner) -> Bool {
        owner.homeAccountID == homeAccountID && owner.environment == environment
    }

    package init(_ account: AccountRecord) {
        self.init(homeAccountID: account.homeAccountID, environment: account.environment)
    }

    package init(_ owner: TokenOwner) {
        self.init(homeAccountID: owner.homeAccountID, environment: owner.environment)
    }
}

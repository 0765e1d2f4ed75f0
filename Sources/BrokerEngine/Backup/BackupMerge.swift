import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Adds the sign-ins of a backup that are not here (docs/decisions/0010). Runs in the write queue, so that nothing comes in between.
///
/// A client's tokens of a person are added together, and only if it has no live ones of that person: a refresh token that rotates
/// cannot be in two places. Nothing that lives is changed or removed, so an import signs nobody out, and a sign-out stays in force.
struct BackupMerge {
    private let batch: BackupBatch
    private let index: CacheIndex
    private let vault: any RecordVault
    private let apps: [AppRegistration]
    /// The apps' client ids, by ``AppRegistration/identity``.
    private let clients: [String: String]
    private(set) var change: CacheChange
    private(set) var report = CacheRestoreReport()
    /// The people whose tokens were not added, by name, and why.
    private(set) var leftAlone: Set<String> = []
    private var room = AccountRoom()
    /// The people of the batch for whom there is room, with their realms.
    private var people: [GroupID: [KnownAccounts.PersonKey: Set<String>]] = [:]
    private var leftOut = 0

    init(_ batch: BackupBatch, into index: CacheIndex, vault: any RecordVault, apps: [AppRegistration]) {
        self.batch = batch
        self.index = index
        self.vault = vault
        self.apps = apps
        clients = Dictionary(apps.map { ($0.identity, $0.clientID) }, uniquingKeysWith: { first, _ in first })
        change = CacheChange(in: batch.partition)
    }

    mutating func run() throws(VaultError) {
        for account in batch.accounts { try merge(account) }
        for signOut in batch.signOuts { try merge(signOut) }
        for client in batch.clients {
            let key = ClientKey(of: client.record, in: batch.partition)
            if try index.loadMembership(of: key) == .unknown { change.add(.appMetadata(.put(client))) }
        }
        for owned in batch.owned { try merge(owned) }
        if batch.unknown > 0 {
            report.problems.append(
                "\(batch.unknown) record\(batch.unknown == 1 ? " is" : "s are") of another version of the broker and left out."
            )
        }
        if batch.beyond > 0 {
            report.problems.append(
                "\(batch.beyond) token\(batch.beyond == 1 ? " is" : "s are") left out: more than a broker keeps of one account of an app."
            )
        }
        if leftOut > 0 {
            report.problems.append(
                "\(leftOut) record\(leftOut == 1 ? " of an account is" : "s of accounts are") left out: a group of apps has reached the limit of accounts."
            )
        }
    }

    private mutating func merge(_ account: StoredRecord<AccountRecord>) throws(VaultError) {
        let record = account.record
        let known = try known(record.group)
        let person = KnownAccounts.PersonKey(record)
        // The profile of another tenant would sign in a person who has signed out.
        let isKept = known.entry(of: record) != nil || known.hasSignedOut(person)
        guard isKept || room.take(account.sealed, in: record.group, of: known) else { return leftOut += 1 }
        people[record.group, default: [:]][person, default: []].insert(record.realm)
        if !isKept { change.add(.account(.put(account))) }
        report.accounts.count(isKept ? .kept : .added)
    }

    private func known(_ group: GroupID) throws(VaultError) -> KnownAccounts {
        try index.loadAccounts(of: .init(partition: batch.partition, group: group))
    }

    private func here(_ owner: TokenOwner) throws(VaultError) -> CachedTokens {
        try index.loadTokens(of: .init(partition: batch.partition, owner: owner))
    }

    /// Adds the sign-out mark of one app, unless its client has signed in here.
    private mutating func merge(_ signOut: StoredRecord<SignOutRecord>) throws(VaultError) {
        let record = signOut.record
        let person = KnownAccounts.PersonKey(homeAccountID: record.homeAccountID, environment: record.environment)
        let known = try known(record.group)
        guard !known.hasSignOut(of: person, from: record.app) else { return }
        if let client = clients[record.app] {
            let owner = TokenOwner(
                group: record.group, clientID: client, homeAccountID: record.homeAccountID,
                environment: record.environment)
            guard try !here(owner).isAlive(at: batch.now) else { return }
        }
        guard room.take(signOut.sealed, in: record.group, of: known) else { return leftOut += 1 }
        change.add(.signOut(.put(signOut)))
    }

    private mutating func merge(_ owned: BackupBatch.Owned) throws(VaultError) {
        let realms = try realms(of: owned.owner)
        let isAlive = try here(owned.owner).isAlive(at: batch.now)
        let isMissing = !isAlive && !realms.isEmpty
        if !isMissing, let name = try name(of: owned.owner) {
            leftAlone.insert(
                "\(name) \(isAlive ? "is signed in here already" : "has signed out here"), and is left so.")
        }
        let key = isMissing ? owned.proofKey : nil
        if let key { change.add(.proofKey(.put(key))) }
        if owned.proofKey != nil { report.proofKeys.count(isMissing ? .added : .kept) }
        for token in owned.refreshTokens {
            // A token whose key is not here could not be used.
            let isUsable = token.record.keyThumbprint == nil || token.record.keyThumbprint == key?.record.thumbprint
            let isAdded = isMissing && isUsable
            if isAdded { change.add(.refreshToken(.put(token))) }
            report.refreshTokens.count(isAdded ? .added : .kept)
        }
        for token in owned.idTokens {
            let isAdded = isMissing && realms.contains(token.record.realm)
            if isAdded { change.add(.idToken(.put(token))) }
            report.idTokens.count(isAdded ? .added : .kept)
        }
    }

    /// The person's name, as known here.
    private func name(of owner: TokenOwner) throws(VaultError) -> String? {
        try known(owner.group).profiles(of: KnownAccounts.PersonKey(owner)).first?.stored.record.username
    }

    /// The realms in which the person is signed in, here or in the batch. Empty for somebody who has signed out here.
    private func realms(of owner: TokenOwner) throws(VaultError) -> Set<String> {
        let person = KnownAccounts.PersonKey(owner)
        let known = try known(owner.group)
        guard !known.hasSignedOut(of: owner, among: apps) else { return [] }
        return (people[owner.group]?[person] ?? []).union(known.profiles(of: person).map(\.stored.record.realm))
    }
}

import BrokerModel
import BrokerTokenCache
import BrokerValues

/// How a backup's records are merged with the existing ones (docs/decisions/0010). Runs in the write queue, so that nothing newer
/// comes in between.
///
/// An import removes a record only to replace it with a newer one: it signs nobody out, and a sign-out made here since the backup
/// stays in force.
struct BackupMerge {
    private let batch: BackupBatch
    private let index: CacheIndex
    private let vault: any RecordVault
    /// The apps' client ids, by ``AppRegistration/identity``.
    private let clients: [String: String]
    private(set) var change: CacheChange
    private(set) var report = CacheRestoreReport()
    private var room = AccountRoom()
    /// The people of the batch for whom there is room, with their realms.
    private var people: [GroupID: [KnownAccounts.PersonKey: Set<String>]] = [:]
    private var leftOut = 0

    init(_ batch: BackupBatch, into index: CacheIndex, vault: any RecordVault, clients: [String: String]) {
        self.batch = batch
        self.index = index
        self.vault = vault
        self.clients = clients
        change = CacheChange(in: batch.partition)
    }

    mutating func run() throws(VaultError) {
        for account in batch.accounts { try merge(account) }
        for signOut in batch.signOuts { try merge(signOut) }
        for client in batch.clients {
            let record = client.record
            let key = ClientKey(
                partition: batch.partition, group: record.group, clientID: record.clientID,
                environment: record.environment)
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
        let isKnown = known.entry(of: record) != nil
        guard isKnown || room.take(account.sealed, in: record.group, of: known) else { return leftOut += 1 }
        people[record.group, default: [:]][KnownAccounts.PersonKey(record), default: []].insert(record.realm)
        if !isKnown { change.add(.account(.put(account))) }
        report.accounts.count(isKnown ? .kept : .added)
    }

    private func known(_ group: GroupID) throws(VaultError) -> KnownAccounts {
        try index.loadAccounts(of: .init(partition: batch.partition, group: group))
    }

    private func here(_ owner: TokenOwner) throws(VaultError) -> CachedTokens {
        try index.loadTokens(of: .init(partition: batch.partition, owner: owner))
    }

    /// Merges a sign-out of one app. The later event counts: the app's sign-out, or its client's sign-in.
    private mutating func merge(_ signOut: StoredRecord<SignOutRecord>) throws(VaultError) {
        let record = signOut.record
        let person = KnownAccounts.PersonKey(homeAccountID: record.homeAccountID, environment: record.environment)
        let known = try known(record.group)
        guard !known.hasSignOut(of: person, from: record.app) else { return }
        if let client = clients[record.app] {
            let owner = TokenOwner(
                group: record.group, clientID: client, homeAccountID: record.homeAccountID,
                environment: record.environment)
            let newest = try here(owner).refreshTokens.map(\.record.cachedAt).max()
            if let newest, newest > record.since { return }
        }
        guard room.take(signOut.sealed, in: record.group, of: known) else { return leftOut += 1 }
        change.add(.signOut(.put(signOut)))
    }

    private mutating func merge(_ owned: BackupBatch.Owned) throws(VaultError) {
        let here = try here(owned.owner)
        guard try isWelcome(owned) else {
            for _ in owned.refreshTokens { report.refreshTokens.count(.kept) }
            for _ in owned.idTokens { report.idTokens.count(.kept) }
            if owned.proofKey != nil { report.proofKeys.count(.kept) }
            return
        }
        let newest = here.refreshTokens.map(\.record.cachedAt).max()
        let isNewer = owned.newest.map { there in newest.map { $0 < there } ?? true } ?? false
        let takesKey = mergeKey(owned.proofKey, here, isNewer: isNewer)
        let key = takesKey ? owned.proofKey?.record.thumbprint : here.proofKey?.record.thumbprint
        for token in owned.refreshTokens {
            let record = token.record
            let same = here.predecessor(of: record)
            // A token whose key is not here could not be used.
            let isUsable = record.keyThumbprint == nil || record.keyThumbprint == key
            guard isUsable, same.map({ $0.record.cachedAt < record.cachedAt }) ?? true else {
                report.refreshTokens.count(.kept)
                continue
            }
            change.add(.refreshToken(.put(token)))
            report.refreshTokens.count(same == nil ? .added : .replaced)
        }
        let realms = try realms(of: owned.owner)
        for token in owned.idTokens {
            let isHere = here.idTokens[token.record.realm] != nil
            guard !isHere || isNewer, realms.contains(token.record.realm) else {
                report.idTokens.count(.kept)
                continue
            }
            change.add(.idToken(.put(token)))
            report.idTokens.count(isHere ? .replaced : .added)
        }
    }

    /// The realms in which the person has an account, here or in the batch.
    private func realms(of owner: TokenOwner) throws(VaultError) -> Set<String> {
        let person = KnownAccounts.PersonKey(homeAccountID: owner.homeAccountID, environment: owner.environment)
        let here = try known(owner.group).profiles(of: person).map(\.stored.record.realm)
        return (people[owner.group]?[person] ?? []).union(here)
    }

    /// Whether the owner is signed in, here or in the backup. A sign-out that came after the tokens stays in force; one that came
    /// before is over, as it was on the backup's machine.
    private mutating func isWelcome(_ owned: BackupBatch.Owned) throws(VaultError) -> Bool {
        let owner = owned.owner
        let person = KnownAccounts.PersonKey(homeAccountID: owner.homeAccountID, environment: owner.environment)
        let profiles = try known(owner.group).profiles(of: person).map(\.stored.record)
        guard !profiles.isEmpty else { return people[owner.group]?[person] != nil }
        guard !profiles.contains(where: \.signedIn) else { return true }
        guard let there = owned.newest, profiles.allSatisfy({ $0.signedOutAt ?? 0 < there }) else { return false }
        for var record in profiles {
            (record.signedIn, record.signedOutAt) = (true, nil)
            change.add(.account(.put(try vault.seal(record, secret: nil, in: batch.partition))))
        }
        return true
    }

    /// - Returns: whether the owner now uses the backup's key.
    private mutating func mergeKey(
        _ key: StoredRecord<ProofKeyRecord>?, _ here: CachedTokens, isNewer: Bool
    ) -> Bool {
        guard let key else { return false }
        guard let old = here.proofKey, old.record.thumbprint != key.record.thumbprint else {
            if here.proofKey == nil { change.add(.proofKey(.put(key))) }
            report.proofKeys.count(here.proofKey == nil ? .added : .kept)
            return true
        }
        guard isNewer else {
            report.proofKeys.count(.kept)
            return false
        }
        // Tokens bound to the old key cannot be used any more.
        if let bound = here.boundRefreshToken { change.add(.refreshToken(.delete(bound))) }
        for token in here.accessTokens.map(\.stored) where token.record.keyThumbprint == old.record.thumbprint {
            change.add(.accessToken(.delete(token)))
        }
        change.add(.proofKey(.put(key)))
        report.proofKeys.count(.replaced)
        return true
    }
}

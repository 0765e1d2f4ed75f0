import BrokerModel
import BrokerValues
import Synchronization

/// The part of the cache that is in memory. Reads are a dictionary look-up under a lock, good for an event loop; what is
/// not there yet is read from the vault by the `load…` functions, which the waiting path uses.
///
/// Only ``CacheWriter`` changes it, after the disk has taken (or refused) the change.
final class CacheIndex: Sendable {
    struct GroupKey: Sendable, Hashable {
        let partition: Partition
        let group: GroupID
    }

    struct OwnerKey: Sendable, Hashable {
        let partition: Partition
        let owner: TokenOwner
    }

    /// One client of a group at a provider.
    struct ClientKey: Sendable, Hashable {
        let partition: Partition
        let group: GroupID
        let clientID: String
        let environment: String
    }

    private struct State {
        var groups: [GroupKey: KnownAccounts] = [:]
        var owners: [OwnerKey: CachedTokens] = [:]
        var families: [ClientKey: FamilyMembership] = [:]
    }

    private let vault: any RecordVault
    private let state = Mutex(State())

    init(vault: any RecordVault) { self.vault = vault }

    func accounts(of key: GroupKey) -> KnownAccounts? { state.withLock { $0.groups[key] } }
    func tokens(of key: OwnerKey) -> CachedTokens? { state.withLock { $0.owners[key] } }

    func loadAccounts(of key: GroupKey) throws(VaultError) -> KnownAccounts {
        if let known = accounts(of: key) { return known }
        var known = KnownAccounts()
        known.entries = try vault.load(AccountRecord.self, bucket: [key.group.rawValue], in: key.partition)
            .map(KnownAccounts.Entry.init)
        known.signOuts = Set(
            try vault.load(SignOutRecord.self, bucket: [key.group.rawValue], in: key.partition).map {
                KnownAccounts.SignOut(
                    app: $0.record.app, homeAccountID: $0.record.homeAccountID, environment: $0.record.environment)
            })
        known.sort()
        return state.withLock { state in
            // A write that came in between is newer than what was read.
            if let newer = state.groups[key] { return newer }
            state.groups[key] = known
            return known
        }
    }

    /// Of all groups, in one stable order; for lists, not for requests.
    func loadEveryAccount(in partition: Partition) throws(VaultError) -> [KnownAccounts.Entry] {
        let stored = try vault.loadAll(AccountRecord.self, in: partition)
        let inMemory = state.withLock { $0.groups.keys.filter { $0.partition == partition } }
        let groups = Set(stored.map { GroupKey(partition: partition, group: $0.record.group) }).union(inMemory)
        var all = KnownAccounts()
        for group in groups { all.entries += try loadAccounts(of: group).entries }
        all.sort()
        return all.entries
    }

    /// Owners whose tokens are in memory; those that the disk refused so far are nowhere else.
    func indexedOwners(in partition: Partition) -> [OwnerKey] {
        state.withLock { $0.owners.keys.filter { $0.partition == partition } }
    }

    func loadTokens(of key: OwnerKey) throws(VaultError) -> CachedTokens {
        if let known = tokens(of: key) { return known }
        var known = CachedTokens()
        let bucket = key.owner.bucket
        known.accessTokens = try vault.load(AccessTokenRecord.self, bucket: bucket, in: key.partition)
            .map(CachedTokens.AccessToken.init)
        for token in try vault.load(RefreshTokenRecord.self, bucket: bucket, in: key.partition) { known.put(token) }
        known.proofKey = try vault.load(ProofKeyRecord.self, bucket: bucket, in: key.partition).first
        for idToken in try vault.load(IDTokenRecord.self, bucket: bucket, in: key.partition) {
            known.idTokens[idToken.record.realm] = idToken.sealed
        }
        return state.withLock { state in
            if let newer = state.owners[key] { return newer }
            state.owners[key] = known
            return known
        }
    }

    func loadMembership(of key: ClientKey) throws(VaultError) -> FamilyMembership {
        if let known = state.withLock({ $0.families[key] }) { return known }
        let stored = try storedMetadata(of: key)
        return state.withLock { state in
            if let newer = state.families[key] { return newer }
            let membership = FamilyMembership(stored)
            state.families[key] = membership
            return membership
        }
    }

    /// The record that says so, with what an imported one had besides.
    func metadata(_ membership: FamilyMembership, of key: ClientKey) throws(VaultError) -> AppMetadataRecord {
        var record = try storedMetadata(of: key) ?? AppMetadataRecord(of: key)
        record.familyID = if case .member(let family) = membership { family } else { nil }
        return record
    }

    private func storedMetadata(of key: ClientKey) throws(VaultError) -> AppMetadataRecord? {
        try vault.load(AppMetadataRecord.self, bucket: AppMetadataRecord(of: key).bucket, in: key.partition)
            .first?.record
    }

    func update(membership: FamilyMembership, of key: ClientKey) { state.withLock { $0.families[key] = membership } }

    func update(accounts key: GroupKey, _ change: (inout KnownAccounts) -> Void) throws(VaultError) {
        _ = try loadAccounts(of: key)
        state.withLock { change(&$0.groups[key, default: KnownAccounts()]) }
    }

    func update(tokens key: OwnerKey, _ change: (inout CachedTokens) -> Void) throws(VaultError) {
        _ = try loadTokens(of: key)
        state.withLock { change(&$0.owners[key, default: CachedTokens()]) }
    }

    /// Forgets owners beyond the limit, oldest knowledge or not: they are read again when they are asked for.
    func trim(toOwners limit: Int) {
        state.withLock { state in
            while state.owners.count > limit, let key = state.owners.keys.first { state.owners[key] = nil }
        }
    }
}

extension AppMetadataRecord {
    fileprivate init(of key: CacheIndex.ClientKey) {
        self.init(group: key.group, clientID: key.clientID, environment: key.environment, familyID: nil)
    }
}

extension CacheIndex.OwnerKey {
    var client: CacheIndex.ClientKey {
        .init(
            partition: partition, group: owner.group, clientID: owner.clientID, environment: owner.environment)
    }

    /// Where the account's family refresh tokens are.
    var ofFamilies: CacheIndex.OwnerKey { .init(partition: partition, owner: owner.ofFamilies) }
}

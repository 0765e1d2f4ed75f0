import BrokerModel
import BrokerValues
import Synchronization

/// The part of the cache that is in memory. Reads are a dictionary look-up under a lock, good for an event loop; what is
/// not there yet is read from the vault by the `load…` functions, which the waiting path uses.
///
/// Only ``CacheWriter`` changes it, after the disk has taken (or refused) the change: what is here is what lies on disk once
/// that has taken everything.
package final class CacheIndex: Sendable {
    fileprivate struct State {
        var groups: [GroupKey: KnownAccounts] = [:]
        var owners: [OwnerKey: CachedTokens] = [:]
        var families: [ClientKey: FamilyMembership] = [:]
    }

    private let vault: any RecordVault
    private let state = Mutex(State())

    package init(vault: any RecordVault) { self.vault = vault }

    package func accounts(of key: GroupKey) -> KnownAccounts? { state.withLock { $0.groups[key] } }
    package func tokens(of key: OwnerKey) -> CachedTokens? { state.withLock { $0.owners[key] } }

    package func loadAccounts(of key: GroupKey) throws(VaultError) -> KnownAccounts {
        if let known = accounts(of: key) { return known }
        let bucket = [key.group.rawValue]
        let known = KnownAccounts(
            try vault.load(AccountRecord.self, bucket: bucket, in: key.partition),
            signOuts: try vault.load(SignOutRecord.self, bucket: bucket, in: key.partition))
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
        var all: [KnownAccounts.Entry] = []
        for group in groups { all += try loadAccounts(of: group).entries }
        return KnownAccounts.sorted(all)
    }

    /// Whose tokens there are; for sign-out, not for requests. The disk knows tokens of clients that no app is registered
    /// with any more, and memory those that the disk refused so far.
    func loadEveryOwner(in partition: Partition) throws(VaultError) -> Set<TokenOwner> {
        var owners = Set(try vault.loadAll(AccessTokenRecord.self, in: partition).map(\.record.owner))
        owners.formUnion(try vault.loadAll(RefreshTokenRecord.self, in: partition).map(\.record.owner))
        owners.formUnion(try vault.loadAll(IDTokenRecord.self, in: partition).map(\.record.owner))
        owners.formUnion(try vault.loadAll(ProofKeyRecord.self, in: partition).map(\.record.owner))
        return owners.union(state.withLock { $0.owners.keys.filter { $0.partition == partition }.map(\.owner) })
    }

    package func loadTokens(of key: OwnerKey) throws(VaultError) -> CachedTokens {
        if let known = tokens(of: key) { return known }
        let bucket = key.owner.bucket
        let known = CachedTokens(
            accessTokens: try vault.load(AccessTokenRecord.self, bucket: bucket, in: key.partition),
            refreshTokens: try vault.load(RefreshTokenRecord.self, bucket: bucket, in: key.partition),
            idTokens: try vault.load(IDTokenRecord.self, bucket: bucket, in: key.partition),
            proofKey: try vault.load(ProofKeyRecord.self, bucket: bucket, in: key.partition).first)
        return state.withLock { state in
            if let newer = state.owners[key] { return newer }
            state.owners[key] = known
            return known
        }
    }

    package func loadMembership(of key: ClientKey) throws(VaultError) -> FamilyMembership {
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

    /// Reads what stands around the records of a change, so that ``apply(_:)`` finds it.
    func load(for change: CacheChange) throws(VaultError) {
        func group(_ group: GroupID) throws(VaultError) {
            _ = try loadAccounts(of: GroupKey(partition: change.partition, group: group))
        }
        func owner(_ owner: TokenOwner) throws(VaultError) {
            _ = try loadTokens(of: OwnerKey(partition: change.partition, owner: owner))
        }
        for row in change.rows {
            switch row {
            case .account(let account): try group(account.record.group)
            case .signOut(let signOut): try group(signOut.record.group)
            case .accessToken(let token): try owner(token.record.owner)
            case .refreshToken(let token): try owner(token.record.owner)
            case .idToken(let token): try owner(token.record.owner)
            case .proofKey(let key): try owner(key.record.owner)
            // Nothing stands around it.
            case .appMetadata: break
            }
        }
    }

    /// Brings a change into memory. Only ``CacheWriter`` calls it, after ``load(for:)``.
    func apply(_ change: CacheChange) {
        state.withLock { state in
            for row in change.rows { state.apply(row, in: change.partition) }
        }
    }

    /// Forgets owners beyond the limit, oldest knowledge or not: they are read again when they are asked for.
    package func trim(toOwners limit: Int) {
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

extension CacheIndex.State {
    fileprivate mutating func apply(_ row: CacheChange.Row, in partition: Partition) {
        func group(_ group: GroupID) -> CacheIndex.GroupKey { .init(partition: partition, group: group) }
        func owner(_ owner: TokenOwner) -> CacheIndex.OwnerKey { .init(partition: partition, owner: owner) }
        switch row {
        case .account(let account): groups[group(account.record.group), default: KnownAccounts()].apply(account)
        case .signOut(let signOut): groups[group(signOut.record.group), default: KnownAccounts()].apply(signOut)
        case .accessToken(let token): owners[owner(token.record.owner), default: CachedTokens()].apply(token)
        case .refreshToken(let token): owners[owner(token.record.owner), default: CachedTokens()].apply(token)
        case .idToken(let token): owners[owner(token.record.owner), default: CachedTokens()].apply(token)
        case .proofKey(let key): owners[owner(key.record.owner), default: CachedTokens()].apply(key)
        case .appMetadata(let metadata):
            let record = metadata.record
            let client = CacheIndex.ClientKey(
                partition: partition, group: record.group, clientID: record.clientID, environment: record.environment)
            families[client] = FamilyMembership(metadata.put?.record)
        }
    }
}

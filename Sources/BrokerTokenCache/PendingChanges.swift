import BrokerModel
import BrokerValues

/// The pending result of a transaction: changes that are decided one after the other, each based on the result of those before it.
/// They are not visible elsewhere until the disk has taken (or refused) them all.
package struct PendingChanges: Sendable {
    /// The state without the draft's changes.
    package let index: CacheIndex
    private(set) var change: CacheChange
    private(set) var affected = AffectedRecords()

    init(in partition: Partition, of index: CacheIndex) {
        self.index = index
        change = CacheChange(in: partition)
    }

    package func loadAccounts(of key: GroupKey) throws(VaultError) -> KnownAccounts {
        if let known = affected.groups[key] { return known }
        return try index.loadAccounts(of: key)
    }

    package func loadTokens(of key: OwnerKey) throws(VaultError) -> CachedTokens {
        if let tokens = affected.owners[key] { return tokens }
        return try index.loadTokens(of: key)
    }

    package func loadMembership(of key: ClientKey) throws(VaultError) -> FamilyMembership {
        if let membership = affected.families[key] { return membership }
        return try index.loadMembership(of: key)
    }

    /// Adds a change, and the removals that follow from it.
    ///
    /// - Throws: if the affected records cannot be read; the draft is then unchanged.
    mutating func add(_ more: CacheChange) throws(VaultError) {
        var entries: [KnownAccount?] = []
        for row in more.rows { entries.append(try load(affectedBy: row)) }
        var owners: Set<OwnerKey> = []
        for (row, entry) in zip(more.rows, entries) {
            affected.apply(row, entry, in: change.partition)
            if let owner = row.owner { owners.insert(.init(partition: change.partition, owner: owner)) }
            change.add(row)
        }
        for row in owners.flatMap({ affected.owners[$0]?.surplus() ?? [] }) {
            affected.apply(row, nil, in: change.partition)
            change.add(row)
        }
    }

    /// Reads the records that a row affects.
    ///
    /// - Returns: for an account that is put, the apps' view of it.
    private mutating func load(affectedBy row: CacheChange.Row) throws(VaultError) -> KnownAccount? {
        if let owner = row.owner {
            let key = OwnerKey(partition: change.partition, owner: owner)
            if affected.owners[key] == nil { affected.owners[key] = try index.loadTokens(of: key) }
        }
        if let group = row.group {
            let key = GroupKey(partition: change.partition, group: group)
            if affected.groups[key] == nil { affected.groups[key] = try index.loadAccounts(of: key) }
        }
        guard case .account(.put(let account)) = row else { return nil }
        return try index.entry(of: account)
    }
}

extension CacheChange.Row {
    /// The owner whose tokens include it.
    fileprivate var owner: TokenOwner? {
        switch self {
        case .accessToken(let token): token.record.owner
        case .refreshToken(let token): token.record.owner
        case .idToken(let token): token.record.owner
        case .proofKey(let key): key.record.owner
        case .account, .signOut, .appMetadata: nil
        }
    }

    /// The group whose accounts include it.
    fileprivate var group: GroupID? {
        switch self {
        case .account(let account): account.record.group
        case .signOut(let signOut): signOut.record.group
        case .accessToken, .refreshToken, .idToken, .proofKey, .appMetadata: nil
        }
    }
}

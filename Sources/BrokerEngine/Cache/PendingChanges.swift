import BrokerModel
import BrokerValues

/// What a transaction is about to make of the cache: changes that are decided one after the other, each of them on what there
/// will be after those before it. Until the disk has taken (or refused) them all, nobody else sees any.
package struct PendingChanges: Sendable {
    /// As it is without the draft's changes.
    package let index: CacheIndex
    private(set) var change: CacheChange
    private(set) var around = CacheIndex.AffectedRecords()

    init(in partition: Partition, of index: CacheIndex) {
        self.index = index
        change = CacheChange(in: partition)
    }

    package func loadAccounts(of key: CacheIndex.GroupKey) throws(VaultError) -> KnownAccounts {
        if let known = around.groups[key] { return known }
        return try index.loadAccounts(of: key)
    }

    package func loadTokens(of key: CacheIndex.OwnerKey) throws(VaultError) -> CachedTokens {
        if let tokens = around.owners[key] { return tokens }
        return try index.loadTokens(of: key)
    }

    package func loadMembership(of key: CacheIndex.ClientKey) throws(VaultError) -> FamilyMembership {
        if let membership = around.families[key] { return membership }
        return try index.loadMembership(of: key)
    }

    /// Adds a change, and what has to go because of it.
    ///
    /// - Throws: when what is around it cannot be read; the draft is as it was then.
    mutating func add(_ more: CacheChange) throws(VaultError) {
        var entries: [KnownAccounts.Entry?] = []
        for row in more.rows { entries.append(try index.load(around: row, of: change.partition, &around)) }
        var owners: Set<CacheIndex.OwnerKey> = []
        for (row, entry) in zip(more.rows, entries) {
            around.apply(row, entry, in: change.partition)
            if let owner = row.owner { owners.insert(.init(partition: change.partition, owner: owner)) }
            change.add(row)
        }
        for row in owners.flatMap({ around.owners[$0]?.surplus() ?? [] }) {
            around.apply(row, nil, in: change.partition)
            change.add(row)
        }
    }
}

extension CacheIndex {
    /// What stands around the records of a change, with the change made.
    struct AffectedRecords: Sendable {
        fileprivate(set) var groups: [GroupKey: KnownAccounts] = [:]
        fileprivate(set) var owners: [OwnerKey: CachedTokens] = [:]
        fileprivate(set) var families: [ClientKey: FamilyMembership] = [:]

        /// - Parameter entry: of an account that is put. What the row is about has been read.
        fileprivate mutating func apply(_ row: CacheChange.Row, _ entry: KnownAccounts.Entry?, in partition: Partition)
        {
            func group(_ group: GroupID) -> GroupKey { GroupKey(partition: partition, group: group) }
            func owner(_ owner: TokenOwner) -> OwnerKey { OwnerKey(partition: partition, owner: owner) }
            switch row {
            case .account(let account): groups[group(account.record.group)]?.apply(account, entry)
            case .signOut(let signOut): groups[group(signOut.record.group)]?.apply(signOut)
            case .accessToken(let token): owners[owner(token.record.owner)]?.apply(token)
            case .refreshToken(let token): owners[owner(token.record.owner)]?.apply(token)
            case .idToken(let token): owners[owner(token.record.owner)]?.apply(token)
            case .proofKey(let key): owners[owner(key.record.owner)]?.apply(key)
            case .appMetadata(let metadata):
                families[ClientKey(of: metadata.record, in: partition)] = FamilyMembership(metadata.put?.record)
            }
        }
    }

    /// Reads what a row is about.
    ///
    /// - Returns: of an account that is put, how apps see it.
    fileprivate func load(
        around row: CacheChange.Row, of partition: Partition, _ around: inout AffectedRecords
    ) throws(VaultError) -> KnownAccounts.Entry? {
        if let owner = row.owner {
            let key = OwnerKey(partition: partition, owner: owner)
            if around.owners[key] == nil { around.owners[key] = try loadTokens(of: key) }
        }
        if let group = row.group {
            let key = GroupKey(partition: partition, group: group)
            if around.groups[key] == nil { around.groups[key] = try loadAccounts(of: key) }
        }
        guard case .account(.put(let account)) = row else { return nil }
        return try entry(of: account)
    }
}

extension CacheChange.Row {
    /// Whose tokens it is among.
    fileprivate var owner: TokenOwner? {
        switch self {
        case .accessToken(let token): token.record.owner
        case .refreshToken(let token): token.record.owner
        case .idToken(let token): token.record.owner
        case .proofKey(let key): key.record.owner
        case .account, .signOut, .appMetadata: nil
        }
    }

    /// Among whose accounts it is.
    fileprivate var group: GroupID? {
        switch self {
        case .account(let account): account.record.group
        case .signOut(let signOut): signOut.record.group
        case .accessToken, .refreshToken, .idToken, .proofKey, .appMetadata: nil
        }
    }
}

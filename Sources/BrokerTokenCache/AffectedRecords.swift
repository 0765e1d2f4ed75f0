import BrokerModel
import BrokerValues

/// The records affected by a change, with the change made.
struct AffectedRecords: Sendable {
    var groups: [GroupKey: KnownAccounts] = [:]
    var owners: [OwnerKey: CachedTokens] = [:]
    var families: [ClientKey: FamilyMembership] = [:]

    /// Applies a row to the affected records, which must have been read.
    ///
    /// - Parameter entry: the apps' view of an account that is put; `nil` for any other row.
    mutating func apply(_ row: CacheChange.Row, _ entry: KnownAccount?, in partition: Partition) {
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

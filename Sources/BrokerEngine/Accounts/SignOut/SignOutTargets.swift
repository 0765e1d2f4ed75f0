import BrokerModel
import BrokerValues

/// What one sign-out is about: the account's records in each group, and the tokens that go.
struct SignOutTargets: Sendable {
    /// One group's part.
    struct Group: Sendable {
        var key: CacheIndex.GroupKey
        var entries: [KnownAccounts.Entry]
        var deletes: [CacheChange.Row]
    }

    var groups: [Group] = []
    var refreshTokens: [StoredRecord<RefreshTokenRecord>] = []
    /// By client: tells the provider whose session is to end.
    var idTokens: [String: SealedRecord] = [:]

    /// - Parameters:
    ///   - account: as apps see it.
    ///   - groups: nil for all.
    ///   - client: nil for all clients.
    init(
        of account: KnownAccounts.Entry, groups wanted: Set<GroupID>?, client: String?, _ services: EngineServices,
        in partition: Partition
    ) throws(VaultError) {
        let (home, environment) = (account.stored.record.homeAccountID, account.stored.record.environment)
        func isMeant(_ owner: TokenOwner) -> Bool {
            owner.homeAccountID == home && owner.environment == environment
                && wanted?.contains(owner.group) ?? true && (client == nil || owner.clientID == client)
        }
        var deletes: [GroupID: [CacheChange.Row]] = [:]
        let owners = try services.index.loadEveryOwner(in: partition).filter { isMeant($0) }
        for owner in owners.sorted(by: { $0.bucket.lexicographicallyPrecedes($1.bucket) }) {
            let tokens = try services.index.loadTokens(of: .init(partition: partition, owner: owner))
            deletes[owner.group, default: []] += tokens.deletion(from: owner)
            refreshTokens += tokens.refreshTokens
            if let idToken = tokens.idTokens[account.stored.record.realm] ?? tokens.idTokens.values.first {
                idTokens[owner.clientID] = idTokens[owner.clientID] ?? idToken
            }
        }
        for entry in try services.index.loadEveryAccount(in: partition) {
            let record = entry.stored.record
            guard record.homeAccountID == home, record.environment == environment,
                wanted?.contains(record.group) ?? true
            else { continue }
            if let place = groups.firstIndex(where: { $0.key.group == record.group }) {
                groups[place].entries.append(entry)
            } else {
                groups.append(
                    Group(
                        key: .init(partition: partition, group: record.group), entries: [entry],
                        deletes: deletes[record.group] ?? []))
            }
        }
    }
}

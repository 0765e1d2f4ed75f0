import BrokerModel
import BrokerValues

/// What one sign-out is about: the account's records in each group, and the tokens that go.
struct SignOutTargets: Sendable {
    /// One group's part.
    struct Group: Sendable {
        var key: CacheIndex.GroupKey
        var entries: [KnownAccounts.Entry]
        var owners: Set<CacheIndex.OwnerKey>
        var deletes: [RecordKey]
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
        let vault = services.vault
        // The disk knows tokens of clients that no app is registered with any more.
        var keys: [GroupID: Set<RecordKey>] = [:]
        var owners: Set<TokenOwner> = []
        func note(_ owner: TokenOwner, _ key: RecordKey) {
            guard isMeant(owner) else { return }
            owners.insert(owner)
            keys[owner.group, default: []].insert(key)
        }
        for token in try vault.loadAll(AccessTokenRecord.self, in: partition) {
            note(token.record.owner, token.record.key)
        }
        for token in try vault.loadAll(RefreshTokenRecord.self, in: partition) {
            note(token.record.owner, token.record.key)
        }
        for token in try vault.loadAll(IDTokenRecord.self, in: partition) {
            note(token.record.owner, token.record.key)
        }
        for key in try vault.loadAll(ProofKeyRecord.self, in: partition) { note(key.record.owner, key.record.key) }
        for key in services.index.indexedOwners(in: partition) where isMeant(key.owner) { owners.insert(key.owner) }
        for owner in owners.sorted(by: { $0.bucket.lexicographicallyPrecedes($1.bucket) }) {
            let tokens = try services.index.loadTokens(of: .init(partition: partition, owner: owner))
            keys[owner.group, default: []].formUnion(tokens.keys(of: owner))
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
                        owners: Set(
                            owners.filter { $0.group == record.group }.map { .init(partition: partition, owner: $0) }),
                        deletes: Array(keys[record.group] ?? [])))
            }
        }
    }
}

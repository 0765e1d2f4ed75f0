import BrokerModel
import BrokerValues

/// What an import changes for one client, encrypted: that which the cache does not have, or has older.
struct SealedImport: Sendable {
    private(set) var accounts: [StoredRecord<AccountRecord>] = []
    private(set) var refreshTokens: [StoredRecord<RefreshTokenRecord>] = []
    private(set) var accessTokens: [StoredRecord<AccessTokenRecord>] = []
    private(set) var idTokens: [StoredRecord<IDTokenRecord>] = []
    private(set) var metadata: StoredRecord<AppMetadataRecord>?
    private(set) var older = 0
    private(set) var change: VaultChange
    private let client: CacheIndex.ClientKey

    init(
        _ plan: ImportPlan, of client: CacheIndex.ClientKey, vault: any RecordVault, index: CacheIndex
    ) throws(VaultError) {
        self.client = client
        let partition = client.partition
        change = VaultChange(in: partition)
        func cached(_ owner: TokenOwner) throws(VaultError) -> CachedTokens {
            try index.loadTokens(of: .init(partition: partition, owner: owner))
        }
        let known = try index.loadAccounts(of: .init(partition: partition, group: client.group)).entries
        for record in plan.accounts where !known.contains(where: { $0.stored.record.key == record.key }) {
            accounts.append(try vault.seal(record, secret: nil, in: partition))
        }
        for token in plan.refreshTokens {
            let same = try cached(token.record.owner).refreshTokens.first { $0.record.key == token.record.key }
            guard same.map({ $0.record.cachedAt < token.record.cachedAt }) ?? true else {
                older += 1
                continue
            }
            refreshTokens.append(try vault.seal(token.record, secret: token.secret, in: partition))
        }
        for token in plan.accessTokens {
            let replaced = try cached(token.record.owner).accessTokens(replacedBy: token.record).map(\.stored.record)
            guard replaced.allSatisfy({ $0.cachedAt < token.record.cachedAt }) else {
                older += 1
                continue
            }
            change.deletes += replaced.map(\.key).filter { $0 != token.record.key }
            accessTokens.append(try vault.seal(token.record, secret: token.secret, in: partition))
        }
        for token in plan.idTokens {
            guard try cached(token.record.owner).idTokens[token.record.realm] == nil else {
                older += 1
                continue
            }
            idTokens.append(try vault.seal(token.record, secret: token.secret, in: partition))
        }
        if let record = plan.metadata, try index.loadMembership(of: client) == .unknown {
            metadata = try vault.seal(record, secret: nil, in: partition)
        }
        change.puts = accounts.map(\.sealed) + refreshTokens.map(\.sealed) + accessTokens.map(\.sealed)
        change.puts += idTokens.map(\.sealed) + [metadata?.sealed].compactMap(\.self)
    }

    func apply(to index: CacheIndex) throws(VaultError) {
        func key(_ owner: TokenOwner) -> CacheIndex.OwnerKey { .init(partition: client.partition, owner: owner) }
        try index.update(accounts: .init(partition: client.partition, group: client.group)) { known in
            for account in accounts {
                known.entries.removeAll { $0.stored.record.key == account.record.key }
                known.entries.append(KnownAccounts.Entry(account))
            }
            known.sort()
        }
        for token in refreshTokens { try index.update(tokens: key(token.record.owner)) { $0.put(token) } }
        for token in accessTokens {
            try index.update(tokens: key(token.record.owner)) { tokens in
                let replaced = Set(tokens.accessTokens(replacedBy: token.record).map(\.stored.record.key))
                tokens.accessTokens.removeAll { replaced.contains($0.stored.record.key) }
                tokens.accessTokens.append(CachedTokens.AccessToken(token))
            }
        }
        for token in idTokens {
            try index.update(tokens: key(token.record.owner)) { $0.idTokens[token.record.realm] = token.sealed }
        }
        if let metadata { index.update(membership: FamilyMembership(metadata.record), of: client) }
    }
}

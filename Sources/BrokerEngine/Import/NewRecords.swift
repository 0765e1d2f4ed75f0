import BrokerModel
import BrokerTokenCache

extension ImportPlan {
    /// The records that the cache lacks or has in an older version.
    struct NewRecords: Sendable {
        var change: CacheChange
        /// Tokens of which the cache has an equal or newer one.
        var older = 0
        /// Accounts for which there is no room.
        var leftOut = 0
        /// The names of people who have signed out of the client.
        var signedOut: Set<String> = []
    }

    /// Runs in the write queue.
    ///
    /// - Parameter apps: all apps: a client takes nothing of a person who has signed out of each app that has it.
    func newRecords(
        for client: ClientKey, of apps: [AppRegistration], in index: CacheIndex, sealedBy vault: any RecordVault
    ) throws(VaultError) -> NewRecords {
        var comparison = Comparison(of: client, in: index, sealedBy: vault)
        try comparison.addAccounts(accounts, of: apps)
        try comparison.addRefreshTokens(refreshTokens)
        try comparison.addAccessTokens(accessTokens)
        try comparison.addIDTokens(idTokens)
        if let metadata { try comparison.addMetadata(metadata) }
        return comparison.new
    }
}

/// The comparison of an import with the cache.
private struct Comparison {
    private let client: ClientKey
    private let index: CacheIndex
    private let vault: any RecordVault
    private(set) var new: ImportPlan.NewRecords
    /// The realms of each imported account.
    private var realms: [KnownAccounts.PersonKey: Set<String>] = [:]

    init(of client: ClientKey, in index: CacheIndex, sealedBy vault: any RecordVault) {
        (self.client, self.index, self.vault) = (client, index, vault)
        new = ImportPlan.NewRecords(change: CacheChange(in: client.partition))
    }

    mutating func addAccounts(_ accounts: [AccountRecord], of apps: [AppRegistration]) throws(VaultError) {
        let known = try index.loadAccounts(of: .init(partition: client.partition, group: client.group))
        var room = AccountRoom()
        for record in accounts {
            let owner = TokenOwner(
                group: client.group, clientID: client.clientID, homeAccountID: record.homeAccountID,
                environment: record.environment)
            guard !known.hasSignedOut(of: owner, among: apps) else {
                new.signedOut.insert(record.username)
                continue
            }
            if known.entry(of: record) == nil {
                let account = try vault.seal(record, secret: nil, in: client.partition)
                guard room.take(account.sealed, in: client.group, of: known) else {
                    new.leftOut += 1
                    continue
                }
                new.change.add(.account(.put(account)))
            }
            realms[KnownAccounts.PersonKey(record), default: []].insert(record.realm)
        }
    }

    mutating func addRefreshTokens(_ tokens: [ImportPlan.Token<RefreshTokenRecord>]) throws(VaultError) {
        let twins = try index.loadRefreshTokens(
            ofOrigins: Set(tokens.compactMap(\.record.origin)), in: client.partition, from: index.loadTokens)
        for token in tokens where realms(of: token.record.owner) != nil {
            let same = try cached(token.record.owner).predecessor(of: token.record)
            let twin = twins.first { $0.record.origin == token.record.origin }
            let isNewer = same.map {
                $0.record.origin != token.record.origin && $0.record.cachedAt < token.record.cachedAt
            }
            guard isNewer ?? true, twin?.record.keyThumbprint == nil else {
                new.older += 1
                continue
            }
            // Another group may have redeemed it.
            let record = twin?.record.taking(place: token.record) ?? token.record
            let secret = try twin.map { twin throws(VaultError) in try vault.secret(of: twin.sealed) } ?? token.secret
            new.change.add(.refreshToken(.put(try vault.seal(record, secret: secret, in: client.partition))))
        }
    }

    mutating func addAccessTokens(_ tokens: [ImportPlan.Token<AccessTokenRecord>]) throws(VaultError) {
        for token in tokens where realms(of: token.record.owner) != nil {
            let replaced = try cached(token.record.owner).accessTokens(replacedBy: token.record).map(\.stored)
            guard replaced.allSatisfy({ $0.record.cachedAt < token.record.cachedAt }) else {
                new.older += 1
                continue
            }
            for old in replaced { new.change.add(.accessToken(.delete(old))) }
            new.change.add(
                .accessToken(.put(try vault.seal(token.record, secret: token.secret, in: client.partition))))
        }
    }

    mutating func addIDTokens(_ tokens: [ImportPlan.Token<IDTokenRecord>]) throws(VaultError) {
        for token in tokens where realms(of: token.record.owner)?.contains(token.record.realm) == true {
            guard try cached(token.record.owner).idTokens[token.record.realm] == nil else {
                new.older += 1
                continue
            }
            new.change.add(.idToken(.put(try vault.seal(token.record, secret: token.secret, in: client.partition))))
        }
    }

    mutating func addMetadata(_ metadata: AppMetadataRecord) throws(VaultError) {
        guard try index.loadMembership(of: client) == .unknown else { return }
        new.change.add(.appMetadata(.put(try vault.seal(metadata, secret: nil, in: client.partition))))
    }

    /// The realms of a token's account; `nil` if the account is not imported.
    private func realms(of owner: TokenOwner) -> Set<String>? { realms[KnownAccounts.PersonKey(owner)] }

    private func cached(_ owner: TokenOwner) throws(VaultError) -> CachedTokens {
        try index.loadTokens(of: .init(partition: client.partition, owner: owner))
    }
}

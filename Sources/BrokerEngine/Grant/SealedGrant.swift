import BrokerModel
import BrokerValues

/// The records of one token answer, encrypted and ready to be written together.
struct SealedGrant: Sendable {
    let owner: CacheIndex.OwnerKey
    let account: StoredRecord<AccountRecord>
    let accessToken: StoredRecord<AccessTokenRecord>
    let refreshToken: StoredRecord<RefreshTokenRecord>?
    let familyToken: StoredRecord<RefreshTokenRecord>?
    let idToken: StoredRecord<IDTokenRecord>?
    /// What a bound access token is bound to.
    let proofKey: StoredRecord<ProofKeyRecord>?
    let spent: StoredRecord<RefreshTokenRecord>?
    /// Nil when the answer says nothing new about the client's family.
    let metadata: StoredRecord<AppMetadataRecord>?

    /// - Parameters:
    ///   - metadata: the client's family as it is to be known from now on; nil leaves it.
    ///   - proofKey: whose proof went along.
    ///   - spent: the refresh token that the answer was given for.
    init(
        _ granted: GrantedTokens, _ response: TokenResponse, metadata: AppMetadataRecord?, proofKey: ProofKey?,
        spent: StoredRecord<RefreshTokenRecord>?, vault: any RecordVault, partition: Partition
    ) throws(VaultError) {
        owner = CacheIndex.OwnerKey(partition: partition, owner: granted.accessToken.owner)
        self.spent = spent
        if let proofKey, granted.accessToken.keyThumbprint != nil {
            let record = ProofKeyRecord(
                owner: granted.accessToken.owner, thumbprint: proofKey.thumbprint,
                createdAt: granted.accessToken.cachedAt)
            self.proofKey = try vault.seal(record, secret: proofKey.privateKey, in: partition)
        } else {
            self.proofKey = nil
        }
        account = try vault.seal(granted.account, secret: nil, in: partition)
        accessToken = try vault.seal(granted.accessToken, secret: response.accessToken, in: partition)
        if let record = granted.refreshToken, let secret = response.refreshToken {
            refreshToken = try vault.seal(record, secret: secret, in: partition)
        } else {
            refreshToken = nil
        }
        if let record = granted.familyToken, let secret = response.refreshToken {
            familyToken = try vault.seal(record, secret: secret, in: partition)
        } else {
            familyToken = nil
        }
        self.metadata = try metadata.map { record throws(VaultError) in
            try vault.seal(record, secret: nil, in: partition)
        }
        if let record = granted.idToken, let secret = response.idToken {
            idToken = try vault.seal(record, secret: secret, in: partition)
        } else {
            idToken = nil
        }
    }

    private var group: CacheIndex.GroupKey {
        .init(partition: owner.partition, group: account.record.group)
    }

    /// One transaction: the new records, without the access tokens they replace.
    func change(from index: CacheIndex, withdrawing signOut: SignOutRecord?) throws(VaultError) -> VaultChange {
        let tokens = try index.loadTokens(of: owner)
        let superseded = superseded(in: tokens)
        let replaced = Set(
            tokens.accessTokens(replacedBy: accessToken.record).map(\.stored.record.key)
                + superseded.accessTokens.map(\.key) + superseded.refreshTokens.map(\.key))
        let deletes = replaced.filter { $0 != accessToken.record.key }
        let known = try index.loadAccounts(of: group)
        let withdrawn = signOut.flatMap { known.signOuts.contains(KnownAccounts.SignOut($0)) ? $0.key : nil }
        return VaultChange(
            in: owner.partition,
            puts: [account.sealed, accessToken.sealed]
                + [
                    refreshToken?.sealed, familyToken?.sealed, idToken?.sealed, metadata?.sealed,
                    newKey(in: tokens)?.sealed,
                ].compactMap(\.self),
            deletes: Array(deletes) + [withdrawn].compactMap(\.self))
    }

    private func superseded(
        in tokens: CachedTokens
    ) -> (accessTokens: [AccessTokenRecord], refreshTokens: [RefreshTokenRecord]) {
        tokens.superseded(by: refreshToken?.record, spent: spent, key: proofKey?.record)
    }

    /// The key is written once, not with every token.
    private func newKey(in tokens: CachedTokens) -> StoredRecord<ProofKeyRecord>? {
        proofKey?.record.thumbprint == tokens.proofKey?.record.thumbprint ? nil : proofKey
    }

    func apply(to index: CacheIndex, withdrawing signOut: SignOutRecord?) throws(VaultError) {
        try index.update(accounts: group) { known in
            known.entries.removeAll { $0.stored.record.key == account.record.key }
            known.entries.append(KnownAccounts.Entry(account))
            if let signOut { known.signOuts.remove(KnownAccounts.SignOut(signOut)) }
            known.sort()
        }
        try index.update(tokens: owner) { tokens in
            let superseded = superseded(in: tokens)
            let replaced = Set(
                tokens.accessTokens(replacedBy: accessToken.record).map(\.stored.record.key)
                    + superseded.accessTokens.map(\.key))
            for record in superseded.refreshTokens {
                tokens.refreshTokens.filter { $0.record.key == record.key }.forEach { tokens.remove($0) }
            }
            if let key = newKey(in: tokens) { tokens.proofKey = key }
            tokens.accessTokens.removeAll { replaced.contains($0.stored.record.key) }
            tokens.accessTokens.append(CachedTokens.AccessToken(accessToken))
            if let refreshToken { tokens.put(refreshToken) }
            if let idToken { tokens.idTokens[idToken.record.realm] = idToken.sealed }
        }
        if let familyToken { try index.update(tokens: owner.ofFamilies) { $0.put(familyToken) } }
        if let metadata { index.update(membership: FamilyMembership(metadata.record), of: owner.client) }
    }
}

extension KnownAccounts.SignOut {
    init(_ record: SignOutRecord) {
        self.init(app: record.app, homeAccountID: record.homeAccountID, environment: record.environment)
    }
}

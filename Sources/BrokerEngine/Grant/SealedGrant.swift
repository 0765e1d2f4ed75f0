import BrokerModel
import BrokerTokenCache
import BrokerValues

/// The encrypted records of one token response, and the changes of those that they replace.
struct SealedGrant: Sendable {
    let account: KnownAccount
    let accessToken: StoredRecord<AccessTokenRecord>
    let idToken: SealedRecord?
    let change: CacheChange

    /// - Parameters:
    ///   - person: the grant's account, merged with what is known of it.
    ///   - proofKey: the key whose proof was sent.
    ///   - spent: the redeemed refresh token.
    ///   - tokens: the owner's existing tokens.
    init(
        _ granted: GrantedTokens, of person: AccountRecord, _ response: TokenResponse, proofKey: ProofKey?,
        spent: StoredRecord<RefreshTokenRecord>?, amid tokens: CachedTokens, vault: any RecordVault,
        in partition: Partition
    ) throws(VaultError) {
        let account = try vault.seal(person, secret: nil, in: partition)
        self.account = try KnownAccount(account, in: vault)
        accessToken = try vault.seal(granted.accessToken, secret: response.accessToken, in: partition)
        let isBound = granted.accessToken.keyThumbprint != nil || granted.refreshToken?.keyThumbprint != nil
        let proofKey = isBound ? proofKey : nil
        var change = CacheChange(
            in: partition,
            tokens.deletion(
                supersededBy: granted.accessToken, granted.refreshToken, for: spent, boundTo: proofKey?.thumbprint))
        // Even if unchanged: this restores a record that was lost on disk.
        change.add(.account(.put(account)))
        change.add(.accessToken(.put(accessToken)))
        for record in [granted.refreshToken, granted.familyToken].compactMap(\.self) {
            change.add(.refreshToken(.put(try vault.seal(record, secret: response.refreshToken, in: partition))))
        }
        let idToken = try granted.idToken.map { record throws(VaultError) in
            try vault.seal(record, secret: response.idToken, in: partition)
        }
        if let idToken { change.add(.idToken(.put(idToken))) }
        self.idToken = idToken?.sealed
        // The key is written once, not with every token.
        if let proofKey, proofKey.thumbprint != tokens.proofKey?.record.thumbprint {
            let record = ProofKeyRecord(
                owner: granted.accessToken.owner, thumbprint: proofKey.thumbprint,
                createdAt: granted.accessToken.cachedAt)
            change.add(.proofKey(.put(try vault.seal(record, secret: proofKey.privateKey, in: partition))))
        }
        self.change = change
    }
}

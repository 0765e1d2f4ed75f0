import BrokerModel
import BrokerValues

/// The records of one token answer, encrypted, and what becomes of those that they take the place of.
struct SealedGrant: Sendable {
    let account: KnownAccounts.Entry
    let accessToken: StoredRecord<AccessTokenRecord>
    let idToken: SealedRecord?
    let change: CacheChange

    /// - Parameters:
    ///   - person: the grant's account, with what is known of it already.
    ///   - proofKey: whose proof went along.
    ///   - spent: the refresh token that the answer was given for.
    ///   - tokens: what the owner has so far.
    init(
        _ granted: GrantedTokens, of person: AccountRecord, _ response: TokenResponse, proofKey: ProofKey?,
        spent: StoredRecord<RefreshTokenRecord>?, amid tokens: CachedTokens, vault: any RecordVault,
        in partition: Partition
    ) throws(VaultError) {
        let account = try vault.seal(person, secret: nil, in: partition)
        self.account = try KnownAccounts.Entry(account, in: vault)
        accessToken = try vault.seal(granted.accessToken, secret: response.accessToken, in: partition)
        let isBound = granted.accessToken.keyThumbprint != nil || granted.refreshToken?.keyThumbprint != nil
        let proofKey = isBound ? proofKey : nil
        var change = CacheChange(
            in: partition,
            tokens.deletion(
                supersededBy: granted.accessToken, granted.refreshToken, for: spent, boundTo: proofKey?.thumbprint))
        // Also where it is what it was: a record that was lost on disk is there again.
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

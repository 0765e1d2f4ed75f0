import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Marks refresh tokens durably before they are sent (decision 18).
struct RefreshIntents: Sendable {
    typealias RefreshToken = StoredRecord<RefreshTokenRecord>

    let cache: TokenCache
    let clock: any BrokerClock

    /// - Returns: the token's new record, or the given one if the token was already marked or the vault does not take the mark;
    ///   `nil` if the token is no longer held: a sign-out or another grant came first, and it must not be sent.
    func mark(_ token: RefreshToken, in partition: Partition) async -> RefreshToken? {
        let vault = cache.vault
        let marked: RefreshToken?? = await cache.note(in: partition, orLog: "a refresh token is sent without a mark") {
            draft throws(VaultError) in
            let unchanged = CacheChange(in: partition)
            let owner = OwnerKey(partition: partition, owner: token.record.owner)
            guard try draft.loadTokens(of: owner).holds(token) else { return (unchanged, nil) }
            guard token.record.unansweredAt == nil else { return (unchanged, token) }
            var record = token.record
            record.unansweredAt = clock.now
            let marked = try vault.seal(record, secret: try vault.secret(of: token.sealed), in: partition)
            return (CacheChange(in: partition, [.refreshToken(.put(marked))]), marked)
        }
        return marked ?? token
    }
}

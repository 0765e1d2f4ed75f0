import BrokerModel
import BrokerValues
import Logging

/// Refresh tokens are marked durably before they are sent (decision 74).
struct RefreshIntents: Sendable {
    typealias RefreshToken = StoredRecord<RefreshTokenRecord>

    let vault: any RecordVault
    let writer: CacheWriter
    let clock: any BrokerClock
    let log: Logger

    /// - Returns: the token as it is from now on. When the vault does not take the mark, it may be sent all the same.
    func mark(_ token: RefreshToken, in partition: Partition) async -> RefreshToken {
        guard token.record.unansweredAt == nil else { return token }
        do throws(VaultError) {
            return try await writer.writeTogether(in: partition) { draft throws(VaultError) in
                let unchanged = CacheChange(in: partition)
                let owner = CacheIndex.OwnerKey(partition: partition, owner: token.record.owner)
                guard try draft.loadTokens(of: owner).holds(token) else { return (unchanged, token) }
                var record = token.record
                record.unansweredAt = clock.now
                let marked = try vault.seal(record, secret: try vault.secret(of: token.sealed), in: partition)
                return (CacheChange(in: partition, [.refreshToken(.put(marked))]), marked)
            }.answer
        } catch {
            log.error("a refresh token is sent without a mark", metadata: ["cause": "\(error)"])
            return token
        }
    }
}

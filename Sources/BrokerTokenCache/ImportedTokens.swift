import BrokerModel
import BrokerValues

/// Imported refresh tokens that several groups have (docs/decisions/0010). The successor of such a token replaces it in all of
/// them: a provider that rotates tokens ends the whole sign-in if an old one is used again.
extension CacheChange {
    /// Adds the successor of a redeemed token to the other groups that have the token.
    ///
    /// - Parameters:
    ///   - successor: the record that is written for the owner that redeemed the token.
    ///   - isFamilys: whether other clients of its family may redeem it, too.
    package mutating func share(
        _ successor: RefreshTokenRecord, _ secret: Secret?, isFamilys: Bool, from draft: PendingChanges,
        _ vault: any RecordVault
    ) throws(VaultError) {
        for twin in try draft.loadTwins(of: successor) where !settles(twin.record) {
            guard isFamilys || twin.record.owner.clientID.isExactly(successor.owner.clientID) else { continue }
            // Only this owner has the key that it is bound to.
            guard successor.keyThumbprint == nil else {
                add(.refreshToken(.delete(twin)))
                continue
            }
            let record = successor.taking(place: twin.record)
            add(.refreshToken(.put(try vault.seal(record, secret: secret, in: partition))))
        }
    }
}

extension PendingChanges {
    /// The imported token with its copies, in every group that has it; none for the token of a sign-in.
    package func loadTwins(of token: RefreshTokenRecord) throws(VaultError) -> [StoredRecord<RefreshTokenRecord>] {
        guard let origin = token.origin else { return [] }
        return try index.loadRefreshTokens(ofOrigins: [origin], in: change.partition, from: loadTokens)
    }
}

extension RefreshTokenRecord {
    /// A copy for another owner of the same token.
    package func taking(place: RefreshTokenRecord) -> RefreshTokenRecord {
        var record = self
        (record.owner, record.familyID, record.extra) = (place.owner, place.familyID, place.extra)
        return record
    }

    /// The identifier of an imported token. The token is long and random, and the record is sealed: no key is needed.
    package static func origin(of token: Secret) -> String {
        Base64URL.encode(token.withBytes { Blake2b.hash(Array($0), length: 16) })
    }
}

import BrokerModel
import BrokerValues

/// One refresh token that imports brought to several groups (docs/decisions/0066): what takes its place in one takes it in all.
/// A provider that rotates tokens ends the whole sign-in when an old one comes again.
extension CacheChange {
    /// - Parameters:
    ///   - successor: as it is written for whoever spent the token.
    ///   - isFamilys: whether other clients of its family may spend it, too.
    mutating func share(
        _ successor: RefreshTokenRecord, _ secret: Secret?, isFamilys: Bool, from draft: PendingChanges,
        _ vault: any RecordVault
    ) throws(VaultError) {
        guard let origin = successor.origin else { return }
        let twins = try draft.index.loadRefreshTokens(ofOrigins: [origin], in: partition, amid: draft)
        for twin in twins where !settles(twin.record) {
            guard isFamilys || twin.record.owner.clientID.isExactly(successor.owner.clientID) else { continue }
            // Nobody else has the key that it is bound to.
            guard successor.keyThumbprint == nil else {
                add(.refreshToken(.delete(twin)))
                continue
            }
            let record = successor.taking(place: twin.record)
            add(.refreshToken(.put(try vault.seal(record, secret: secret, in: partition))))
        }
    }
}

extension RefreshTokenRecord {
    /// What is known of a token, for another one who has it.
    func taking(place: RefreshTokenRecord) -> RefreshTokenRecord {
        var record = self
        (record.owner, record.familyID, record.extra) = (place.owner, place.familyID, place.extra)
        return record
    }

    /// What an imported token is known by. It is long and random, and the record is sealed: no key is needed.
    static func origin(of token: Secret) -> String {
        Base64URL.encode(token.withBytes { Blake2b.hash(Array($0), length: 16) })
    }
}

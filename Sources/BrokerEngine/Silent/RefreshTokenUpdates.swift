import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Records the outcomes of redeemed refresh tokens. A failure to write is only logged.
struct RefreshTokenUpdates: Sendable {
    typealias RefreshToken = StoredRecord<RefreshTokenRecord>

    let cache: TokenCache
    let events: EventHub

    /// Removes the refresh token, but only the one that was sent: a sign-in may have brought a new one meanwhile.
    ///
    /// - Returns: false if it was no longer there.
    func forget(_ dead: RefreshToken, of app: AppRegistration) async -> Bool {
        let owner = OwnerKey(partition: dead.sealed.partition, owner: dead.record.owner)
        let vault = cache.vault
        let wasThere = await cache.note(in: owner.partition, orLog: "a dead refresh token could not be removed") {
            draft throws(VaultError) in
            let tokens = try draft.loadTokens(of: owner)
            guard tokens.holds(dead) else { return (CacheChange(in: owner.partition), false) }
            var change = CacheChange(in: owner.partition, [.refreshToken(.delete(dead))])
            for token in tokens.accessTokens.map(\.stored) where token.record.isOfEndedSignIn != true {
                var record = token.record
                record.isOfEndedSignIn = true
                let secret = try vault.secret(of: token.sealed)
                change.add(.accessToken(.put(try vault.seal(record, secret: secret, in: owner.partition))))
            }
            return (change, true)
        }
        guard wasThere != false else { return false }
        let (person, environment) = (owner.owner.homeAccountID, owner.owner.environment)
        guard let id = try? cache.vault.accountID(of: person, at: environment, in: owner.partition) else { return true }
        events.tell(
            EngineEvent(
                partition: owner.partition, app: app,
                .token(.refreshTokenRejected, accountID: id, scopes: dead.record.scopes, expiresOn: nil)))
        return true
    }

    /// Records knowledge about this token durably without replacing it: that a response is missing (the token is tried again, and
    /// may turn out to be dead), or what it is good for.
    ///
    /// - Parameters:
    ///   - earlier: the starting point of the change. If nothing changes, that same record is restored: failures are remembered by
    ///     it.
    /// - Returns: the token's new record.
    @discardableResult
    func mark(
        _ sent: RefreshToken, from earlier: RefreshToken,
        _ change: @escaping @Sendable (inout RefreshTokenRecord) -> Void = { _ in }
    ) async -> RefreshToken {
        let owner = OwnerKey(partition: sent.sealed.partition, owner: sent.record.owner)
        let vault = cache.vault
        return await cache.note(in: owner.partition, orLog: "a refresh token could not be marked") {
            draft throws(VaultError) in
            let unchanged = CacheChange(in: owner.partition)
            guard try draft.loadTokens(of: owner).holds(sent) else { return (unchanged, sent) }
            var (record, marked) = (earlier.record, earlier)
            change(&record)
            if record != earlier.record {
                marked = try vault.seal(record, secret: try vault.secret(of: sent.sealed), in: owner.partition)
            }
            guard marked.sealed.box != sent.sealed.box else { return (unchanged, sent) }
            return (CacheChange(in: owner.partition, [.refreshToken(.put(marked))]), marked)
        } ?? sent
    }

    func remember(_ membership: FamilyMembership, _ client: ClientKey) async {
        let vault = cache.vault
        await cache.note(in: client.partition, orLog: "an app's family could not be noted") {
            draft throws(VaultError) in
            let metadata = try vault.seal(
                try draft.index.metadata(membership, of: client), secret: nil, in: client.partition)
            return (CacheChange(in: client.partition, [.appMetadata(.put(metadata))]), ())
        }
    }
}

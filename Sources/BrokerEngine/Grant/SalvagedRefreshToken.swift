import BrokerModel
import BrokerTokenCache
import BrokerValues
import Logging

/// A refresh token from a response that is otherwise unusable. The one that was sent may already be invalid.
struct SalvagedRefreshToken: Sendable {
    let refreshToken: Secret?
    /// The type of the access token in the same response; if unknown, the new token is bound as the old one.
    let type: TokenType?
    let sent: Scopes
    let metadata: ProviderMetadata
    let precondition: RefreshPrecondition
}

/// Keeps salvaged refresh tokens, and revokes tokens that arrive too late.
struct RefreshTokenSalvage: Sendable {
    let cache: TokenCache
    let flights: RefreshFlights
    let revocations: Revocations
    let roster: any AppRoster
    let clock: any BrokerClock
    let log: Logger

    func precondition(
        spending spent: StoredRecord<RefreshTokenRecord>, by app: AppRegistration
    ) -> RefreshPrecondition {
        RefreshPrecondition(spending: spent, by: app, roster, log)
    }

    func keep(_ rescue: SalvagedRefreshToken, proofKey: ProofKey?) async {
        guard let secret = rescue.refreshToken else { return }
        let precondition = rescue.precondition
        let (app, partition) = (precondition.app, precondition.owner.partition)
        let isBound =
            rescue.type == .dpop && app.clientSecret == nil
            || rescue.type == .bearer && app.bindsRefreshToken(at: rescue.metadata)
        let standing = await cache.note(in: partition, orLog: "a rotated refresh token could not be kept") {
            [vault = cache.vault, now = clock.now, log] draft throws(VaultError) in
            var change = CacheChange(in: partition)
            let standing = try precondition.standing(in: draft)
            guard standing == .valid else { return (change, standing) }
            var record = precondition.spent.record
            record.narrowedTo = ScopeRules.narrowing(of: record, by: rescue.sent)
            record.cachedAt = now
            (record.unansweredAt, record.refusedAt) = (nil, nil)
            change.add(.refreshToken(.delete(precondition.spent)))
            if isBound, let proofKey {
                record.keyThumbprint = proofKey.thumbprint
                if rescue.type == .bearer { record.givesBearer = true }
                let key = ProofKeyRecord(owner: record.owner, thumbprint: proofKey.thumbprint, createdAt: now)
                change.add(.proofKey(.put(try vault.seal(key, secret: proofKey.privateKey, in: partition))))
            }
            change.add(.refreshToken(.put(try vault.seal(record, secret: secret, in: partition))))
            do throws(VaultError) {
                try change.share(record, secret, isFamilys: record.familyID != nil, from: draft, vault)
            } catch {
                log.error("other groups with the token keep the spent one", metadata: ["cause": "\(error)"])
            }
            return (change, standing)
        }
        if standing == .signedOut {
            revokeLate(DiscardedTokens(refreshToken: secret), precondition, at: rescue.metadata)
        }
    }

    /// Tokens that arrive after the person signed out are treated like those of that time: they are revoked if the person wanted
    /// that (decision 18).
    func revokeLate(_ tokens: DiscardedTokens, _ precondition: RefreshPrecondition, at metadata: ProviderMetadata) {
        guard flights.isRevoked(precondition.owner) else { return }
        revocations.revoke(tokens, of: precondition.app, at: metadata)
    }
}

import BrokerModel
import BrokerTokenCache
import BrokerValues
import Logging

/// A refresh token from a response that is otherwise unusable, or too late. The one that was sent may already be
/// invalid.
struct SalvagedRefreshToken: Sendable {
    /// All tokens of the response: after a sign-out with revocation they are revoked.
    let tokens: DiscardedTokens
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

    /// Keeps the token for all that still have the one that was sent: the app itself, unless it was signed out or in
    /// anew meanwhile, and others (decision 10).
    func keep(_ rescue: SalvagedRefreshToken, proofKey: ProofKey?) async {
        let precondition = rescue.precondition
        let (app, partition) = (precondition.app, precondition.owner.partition)
        let isBound =
            rescue.type == .dpop && app.clientSecret == nil
            || rescue.type == .bearer && app.bindsRefreshToken(at: rescue.metadata)
        let isLate = await cache.note(in: partition, orLog: "a rotated refresh token could not be kept") {
            [vault = cache.vault, now = clock.now, log] draft throws(VaultError) in
            var change = CacheChange(in: partition)
            let isSignedOut = try precondition.standing(in: draft) == .signedOut
            guard let secret = rescue.tokens.refreshToken else {
                // Other groups go on with the spent one, and a revoked access token may end it at the provider.
                let twins = try draft.loadTwins(of: precondition.spent.record)
                return (change, isSignedOut && twins.isEmpty)
            }
            var record = precondition.spent.record
            record.narrowedTo = ScopeRules.narrowing(of: record, by: rescue.sent)
            record.cachedAt = now
            (record.unansweredAt, record.refusedAt) = (nil, nil)
            if isBound, let proofKey {
                record.keyThumbprint = proofKey.thumbprint
                if rescue.type == .bearer { record.givesBearer = true }
            }
            // A family's token stays when one of its apps signs out.
            let tokens = try draft.loadTokens(of: precondition.owner)
            let isHeld = tokens.holds(precondition.spent)
            if isHeld { change.add(.refreshToken(.delete(precondition.spent))) }
            // The key of a sign-in that came meanwhile stays, and a token of another key is of no use.
            if isHeld, !tokens.hasKey(otherThan: record.keyThumbprint) {
                if isBound, let proofKey {
                    let key = ProofKeyRecord(owner: record.owner, thumbprint: proofKey.thumbprint, createdAt: now)
                    change.add(.proofKey(.put(try vault.seal(key, secret: proofKey.privateKey, in: partition))))
                }
                change.add(.refreshToken(.put(try vault.seal(record, secret: secret, in: partition))))
            }
            do throws(VaultError) {
                try change.share(record, secret, isFamilys: record.familyID != nil, from: draft, vault)
            } catch {
                log.error("other groups with the token keep the spent one", metadata: ["cause": "\(error)"])
            }
            return (change, isSignedOut && change.isEmpty)
        }
        // Treated like the tokens of the time of the sign-out: revoked if the person wanted that (decision 18).
        if isLate == true, flights.isRevoked(precondition.owner) {
            revocations.revoke(rescue.tokens, of: app, at: rescue.metadata)
        }
    }
}

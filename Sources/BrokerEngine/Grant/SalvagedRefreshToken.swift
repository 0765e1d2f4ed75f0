import BrokerModel
import BrokerValues
import Logging

/// A refresh token that came with an answer which is no good otherwise. The one that was sent may be spent.
struct SalvagedRefreshToken: Sendable {
    let refreshToken: Secret?
    /// Of the access token that came along; when it is not known, the new token is bound as the old one.
    let type: TokenType?
    let sent: Scopes
    let metadata: ProviderMetadata
    let precondition: RefreshPrecondition
}

extension TokenResponseStore {
    /// Of a refresh whose answer is no good but for its refresh token.
    func keepRefreshTokenOnly(
        _ rest: RejectedTokenResponse, sent: Scopes, replacing spent: StoredRecord<RefreshTokenRecord>,
        proofKey: ProofKey?,
        at metadata: ProviderMetadata
    ) async {
        let rescue = SalvagedRefreshToken(
            refreshToken: rest.refreshToken, type: rest.tokenType, sent: sent, metadata: metadata,
            precondition: RefreshPrecondition(spending: spent, by: app, in: partition, services))
        await keep(rescue, proofKey: proofKey)
    }

    func keep(_ rescue: SalvagedRefreshToken, proofKey: ProofKey?) async {
        guard let secret = rescue.refreshToken else { return }
        let isBound =
            rescue.type == .dpop && app.clientSecret == nil
            || rescue.type == .bearer && app.bindsRefreshToken(at: rescue.metadata)
        do throws(VaultError) {
            let standing = try await services.writer.writeTogether(in: partition) {
                [partition, vault = services.vault, now = services.clock.now, log = services.log]
                draft throws(VaultError) in
                let precondition = rescue.precondition
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
                    log.error("others who have the token keep the spent one", metadata: ["cause": "\(error)"])
                }
                return (change, standing)
            }.answer
            if standing == .signedOut {
                revokeLate(DiscardedTokens(refreshToken: secret), rescue.precondition, at: rescue.metadata)
            }
        } catch {
            services.log.error("a rotated refresh token could not be kept", metadata: ["cause": "\(error)"])
        }
    }

    /// What came after the person signed out shares the fate of what was there then: it is revoked if they wanted that
    /// (decision 35).
    func revokeLate(_ tokens: DiscardedTokens, _ precondition: RefreshPrecondition, at metadata: ProviderMetadata) {
        guard services.flights.isRevoked(precondition.owner) else { return }
        services.revoke(tokens, of: app, at: metadata)
    }
}

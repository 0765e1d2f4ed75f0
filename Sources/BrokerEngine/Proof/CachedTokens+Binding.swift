import BrokerModel
import BrokerValues

extension CachedTokens {
    /// Refresh tokens that may be spent for a token of this type, the better one first.
    ///
    /// A bound one brings bound tokens only. One that is not bound can bring either: a public client's is bound from then
    /// on (RFC 9449, section 5).
    package func refreshTokens(for type: TokenType) -> [StoredRecord<RefreshTokenRecord>] {
        switch type {
        case .bearer: [refreshToken].compactMap(\.self)
        case .dpop: [boundRefreshToken, refreshToken].compactMap(\.self)
        }
    }

    /// Whether a token's key is at hand: without it nobody could use the token.
    package func isBound(_ token: AccessTokenRecord) -> Bool {
        token.tokenType == .dpop && token.keyThumbprint != nil && token.keyThumbprint == proofKey?.record.thumbprint
    }

    /// What a new grant makes worthless.
    ///
    /// - Parameters:
    ///   - refreshToken: what the provider gave in place of `spent`; kept elsewhere when it is bound and that was not.
    ///   - key: what new tokens are bound to: those of an earlier key have nobody any more who could prove them.
    func superseded(
        by refreshToken: RefreshTokenRecord?, spent: StoredRecord<RefreshTokenRecord>?, key: ProofKeyRecord?
    ) -> (accessTokens: [AccessTokenRecord], refreshTokens: [RefreshTokenRecord]) {
        var worthless: [RefreshTokenRecord] = []
        if let refreshToken, let spent, spent.record.key != refreshToken.key, spent.record.familyID == nil, holds(spent)
        {
            worthless.append(spent.record)
        }
        guard let key, let old = proofKey?.record, old.thumbprint != key.thumbprint else { return ([], worthless) }
        if let bound = boundRefreshToken?.record, bound.key != refreshToken?.key,
            !worthless.contains(where: { $0.key == bound.key })
        {
            worthless.append(bound)
        }
        let accessTokens = accessTokens.map(\.stored.record)
            .filter { $0.tokenType == .dpop && $0.keyThumbprint != key.thumbprint }
        return (accessTokens, worthless)
    }
}

import BrokerModel
import BrokerValues

/// The tokens of one owner in memory: fields in the clear, secrets sealed as on disk.
package struct CachedTokens: Sendable {
    package struct AccessToken: Sendable {
        package let stored: StoredRecord<AccessTokenRecord>
        /// Compared on the hot path, so computed once.
        package let scopes: Set<String>

        package init(_ stored: StoredRecord<AccessTokenRecord>) {
            self.stored = stored
            scopes = Set(Scopes(stored.record.scopes).normalized)
        }

        /// A token for one audience says nothing to another (RFC 8707, section 2).
        func isGood(at resources: [String]) -> Bool { (stored.record.resources ?? []) == resources }
    }

    package private(set) var accessTokens: [AccessToken]
    /// The owner's own; families' only under ``TokenOwner/ofFamilies``.
    package private(set) var refreshTokens: [StoredRecord<RefreshTokenRecord>]
    /// By realm.
    package private(set) var idTokens: [String: SealedRecord]
    /// What DPoP tokens are bound to.
    package private(set) var proofKey: StoredRecord<ProofKeyRecord>?

    package init(
        accessTokens: [StoredRecord<AccessTokenRecord>] = [], refreshTokens: [StoredRecord<RefreshTokenRecord>] = [],
        idTokens: [StoredRecord<IDTokenRecord>] = [], proofKey: StoredRecord<ProofKeyRecord>? = nil
    ) {
        self.accessTokens = accessTokens.map(AccessToken.init)
        self.refreshTokens = refreshTokens
        self.idTokens = Dictionary(idTokens.map { ($0.record.realm, $0.sealed) }, uniquingKeysWith: { $1 })
        self.proofKey = proofKey
    }

    package var count: Int { accessTokens.count + refreshTokens.count + idTokens.count }

    // MARK: Access tokens

    /// The first token that carries at least the scopes asked for, at the same resources.
    ///
    /// - Parameter isUsable: what is asked of its lifetime (``ExpiryRule``).
    package func accessToken(
        for question: SilentDecision.Question, _ isUsable: (AccessTokenRecord) -> Bool
    ) -> StoredRecord<AccessTokenRecord>? {
        accessTokens.first { token in
            token.stored.record.realm == question.realm && token.stored.record.tokenType == question.tokenType
                && (question.tokenType == .bearer || isBound(token.stored.record))
                && token.isGood(at: question.resources)
                && question.scopes.normalized.allSatisfy(token.scopes.contains) && isUsable(token.stored.record)
        }?.stored
    }

    /// Whether a token's key is at hand: without it nobody could use the token.
    package func isBound(_ token: AccessTokenRecord) -> Bool {
        token.tokenType == .dpop && token.keyThumbprint != nil && token.keyThumbprint == proofKey?.record.thumbprint
    }

    /// Tokens that a new one replaces: same realm, type and resources, and a scope in common (MSAL, "Saving a token").
    ///
    /// What the broker itself adds to every request is no scope in common: otherwise two apps that share a client and ask
    /// for different things would throw out each other's token for ever.
    package func accessTokens(replacedBy record: AccessTokenRecord) -> [AccessToken] {
        let scopes = Set(Scopes(record.scopes).normalized).subtracting(Scopes.reserved.normalized)
        return accessTokens.filter { token in
            guard token.stored.record.realm == record.realm, token.stored.record.tokenType == record.tokenType,
                token.isGood(at: record.resources ?? [])
            else { return false }
            let theirs = token.scopes.subtracting(Scopes.reserved.normalized)
            return !theirs.isDisjoint(with: scopes) || (theirs.isEmpty && scopes.isEmpty)
        }
    }

    // MARK: Refresh tokens

    package var refreshToken: StoredRecord<RefreshTokenRecord>? {
        refreshTokens.first { $0.record.familyID == nil && $0.record.keyThumbprint == nil }
    }

    /// Bound to a key (RFC 9449, section 5).
    package var boundRefreshToken: StoredRecord<RefreshTokenRecord>? {
        refreshTokens.first { $0.record.familyID == nil && $0.record.keyThumbprint != nil }
    }

    package var familyTokens: [StoredRecord<RefreshTokenRecord>] {
        refreshTokens.filter { $0.record.familyID != nil && $0.record.keyThumbprint == nil }
    }

    /// Whether this very token, not a successor of it, is there.
    package func holds(_ token: StoredRecord<RefreshTokenRecord>) -> Bool {
        refreshTokens.contains { $0.sealed.box == token.sealed.box }
    }

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

    /// A family's token brings bearer tokens only: it is many clients', and a key one client's.
    func spendable(for type: TokenType, _ family: FamilyKnowledge) -> [StoredRecord<RefreshTokenRecord>] {
        refreshTokens(for: type) + (type == .bearer ? family.spendable : [])
    }
}

// MARK: - Changes

extension CachedTokens {
    package mutating func apply(_ action: CacheChange.Action<AccessTokenRecord>) {
        accessTokens.apply(action, at: \.stored.sealed, AccessToken.init)
    }

    package mutating func apply(_ action: CacheChange.Action<RefreshTokenRecord>) {
        refreshTokens.apply(action, at: \.sealed) { $0 }
    }

    package mutating func apply(_ action: CacheChange.Action<IDTokenRecord>) {
        idTokens[action.record.realm] = action.put?.sealed
    }

    package mutating func apply(_ action: CacheChange.Action<ProofKeyRecord>) { proofKey = action.put }

    /// Removes what a new grant makes worthless. What is put under the same key afterwards stays.
    ///
    /// - Parameters:
    ///   - refreshToken: what the provider gave in place of `spent`; kept elsewhere when it is bound and that was not.
    ///   - thumbprint: of the key that new tokens are bound to: those of an earlier key have nobody any more who could
    ///     prove them.
    func deletion(
        supersededBy accessToken: AccessTokenRecord, _ refreshToken: RefreshTokenRecord?,
        for spent: StoredRecord<RefreshTokenRecord>?, boundTo thumbprint: String?
    ) -> [CacheChange.Row] {
        var gone = accessTokens(replacedBy: accessToken).map(\.stored)
        var spentTokens: [StoredRecord<RefreshTokenRecord>] = []
        if refreshToken != nil, let spent, spent.record.familyID == nil, holds(spent) { spentTokens.append(spent) }
        if let thumbprint, let old = proofKey?.record.thumbprint, old != thumbprint {
            gone += accessTokens.map(\.stored)
                .filter { $0.record.tokenType == .dpop && $0.record.keyThumbprint != thumbprint }
            if let boundRefreshToken { spentTokens.append(boundRefreshToken) }
        }
        return gone.map { .accessToken(.delete($0)) } + spentTokens.map { .refreshToken(.delete($0)) }
    }

    /// Removes everything.
    func deletion(from owner: TokenOwner) -> [CacheChange.Row] {
        accessTokens.map { .accessToken(.delete($0.stored)) } + refreshTokens.map { .refreshToken(.delete($0)) }
            + idTokens.map { realm, sealed in
                .idToken(
                    .delete(
                        StoredRecord(record: IDTokenRecord(owner: owner, realm: realm, cachedAt: 0), sealed: sealed)))
            } + [proofKey].compactMap(\.self).map { .proofKey(.delete($0)) }
    }
}

import BrokerModel
import BrokerValues

/// The tokens of one owner in memory: fields in the clear, secrets sealed as on disk.
package struct CachedTokens: Sendable {
    package struct AccessToken: Sendable {
        package let stored: StoredRecord<AccessTokenRecord>
        /// The normalized scopes, computed once, because the hot path compares them.
        package let scopes: Set<String>

        package init(_ stored: StoredRecord<AccessTokenRecord>) {
            self.stored = stored
            scopes = Set(Scopes(stored.record.scopes).normalized)
        }

        func isWithin(_ ceiling: Scopes) -> Bool {
            stored.record.isGoodForMore != true && scopes.isSubset(of: ceiling.normalized)
        }
    }

    /// The key of the tokens with one scope, or of those whose other properties match.
    private struct LookupKey: Sendable, Hashable {
        let realm: String
        let tokenType: TokenType
        /// A token for one audience is invalid at another (RFC 8707, section 2).
        let resources: [String]
        let scope: String?
    }

    /// The number of access tokens of one owner; beyond it the token that ends first is evicted for a new one.
    package static let maximumAccessTokens = 1_024
    /// The number of refresh tokens of one owner: the client's own, and one for each family that the provider names.
    package static let maximumRefreshTokens = 16

    /// The access tokens in the order of their row keys, like the refresh tokens.
    package private(set) var accessTokens: [AccessToken] { didSet { positions = Self.positions(of: accessTokens) } }
    /// The indices of access tokens in ``accessTokens``.
    private var positions: [LookupKey: [Int]] = [:]
    /// The owner's own tokens; family tokens only under ``TokenOwner/ofFamilies``.
    package private(set) var refreshTokens: [StoredRecord<RefreshTokenRecord>]
    /// The ID tokens by realm.
    package private(set) var idTokens: [String: SealedRecord]
    /// Lifetimes of ID tokens whose expiry is known.
    package private(set) var idTokenLifetimes: [String: TokenLifetime]
    /// The key that DPoP tokens are bound to.
    package private(set) var proofKey: StoredRecord<ProofKeyRecord>?

    package init(
        accessTokens: [StoredRecord<AccessTokenRecord>] = [], refreshTokens: [StoredRecord<RefreshTokenRecord>] = [],
        idTokens: [StoredRecord<IDTokenRecord>] = [], proofKey: StoredRecord<ProofKeyRecord>? = nil
    ) {
        self.accessTokens = accessTokens.inOrder().map(AccessToken.init)
        self.refreshTokens = refreshTokens.inOrder()
        self.idTokens = Dictionary(idTokens.map { ($0.record.realm, $0.sealed) }, uniquingKeysWith: { $1 })
        idTokenLifetimes = Dictionary(
            idTokens.compactMap { token in TokenLifetime(token.record).map { (token.record.realm, $0) } },
            uniquingKeysWith: { $1 })
        self.proofKey = proofKey
        positions = Self.positions(of: self.accessTokens)
    }

    package var isEmpty: Bool { count == 0 && proofKey == nil }

    /// Whether it can answer a request by itself or by a refresh.
    package func isAlive(at now: NumericDate) -> Bool {
        !refreshTokens.isEmpty || accessTokens.contains { $0.stored.record.expiresOn > now }
    }

    /// Approximate bytes in memory.
    package var weight: Int {
        let tokens = accessTokens.map(\.stored.sealed) + refreshTokens.map(\.sealed) + idTokens.values
        return tokens.reduce(proofKey?.sealed.weight ?? 0) { $0 + $1.weight }
    }

    package var count: Int { accessTokens.count + refreshTokens.count + idTokens.count }

    // MARK: Access tokens

    /// The first token with at least the requested scopes, at the same resources.
    ///
    /// - Parameter isUsable: the check of its lifetime (``ExpiryRule``).
    package func accessToken(
        for question: CacheQuestion, _ isUsable: (AccessTokenRecord) -> Bool
    ) -> StoredRecord<AccessTokenRecord>? {
        let scopes = question.scopes.normalized
        // Nearly every token has the scopes that the broker itself adds.
        let rare = scopes.first { !Scopes.reserved.normalized.contains($0) } ?? scopes.first
        let key = LookupKey(
            realm: question.realm, tokenType: question.tokenType, resources: question.resources, scope: rare)
        let place = positions[key]?.first { place in
            let token = accessTokens[place]
            return (question.tokenType == .bearer || isBound(token.stored.record))
                && scopes.allSatisfy(token.scopes.contains) && isUsable(token.stored.record)
                && (question.ceiling.map { token.isWithin($0) } ?? true)
        }
        return place.map { accessTokens[$0].stored }
    }

    private static func positions(of tokens: [AccessToken]) -> [LookupKey: [Int]] {
        var positions: [LookupKey: [Int]] = [:]
        for (place, token) in tokens.enumerated() {
            let record = token.stored.record
            for scope in token.scopes.map(Optional.some) + [nil] {
                let key = LookupKey(
                    realm: record.realm, tokenType: record.tokenType, resources: record.resources ?? [], scope: scope)
                positions[key, default: []].append(place)
            }
        }
        return positions
    }

    /// Removes the records beyond ``maximumAccessTokens`` and ``maximumRefreshTokens``.
    func surplus() -> [CacheChange.Row] {
        let soonest = accessTokens.map(\.stored).surplus(over: Self.maximumAccessTokens, by: \.expiresOn)
        let oldest = refreshTokens.surplus(over: Self.maximumRefreshTokens, by: \.cachedAt)
        return soonest.map { .accessToken(.delete($0)) } + oldest.map { .refreshToken(.delete($0)) }
    }

    /// Whether a token's key is available: without it the token cannot be used.
    package func isBound(_ token: AccessTokenRecord) -> Bool {
        token.tokenType == .dpop && token.keyThumbprint != nil && token.keyThumbprint == proofKey?.record.thumbprint
    }

    /// Tokens that a new one replaces: same realm, type and resources, and a scope in common (MSAL, "Saving a token").
    ///
    /// The scopes that the broker adds to every request do not count: otherwise two apps that share a client and ask for different
    /// scopes would keep evicting each other's token.
    package func accessTokens(replacedBy record: AccessTokenRecord) -> [AccessToken] {
        let scopes = Set(Scopes(record.scopes).normalized).subtracting(Scopes.reserved.normalized)
        let key = LookupKey(
            realm: record.realm, tokenType: record.tokenType, resources: record.resources ?? [], scope: nil)
        return (positions[key] ?? []).map { accessTokens[$0] }.filter { token in
            let theirs = token.scopes.subtracting(Scopes.reserved.normalized)
            return !theirs.isDisjoint(with: scopes) || (theirs.isEmpty && scopes.isEmpty)
        }
    }

    // MARK: Refresh tokens

    /// The client's own refresh token that is not bound to a key.
    package var refreshToken: StoredRecord<RefreshTokenRecord>? {
        refreshTokens.first { $0.record.familyID == nil && $0.record.keyThumbprint == nil }
    }

    /// The client's own refresh token that is bound to a key (RFC 9449, section 5).
    package var boundRefreshToken: StoredRecord<RefreshTokenRecord>? {
        refreshTokens.first { $0.record.familyID == nil && $0.record.keyThumbprint != nil }
    }

    package var familyTokens: [StoredRecord<RefreshTokenRecord>] {
        refreshTokens.filter { $0.record.familyID != nil && $0.record.keyThumbprint == nil }
    }

    /// Whether exactly this token, not a successor, is present.
    package func holds(_ token: StoredRecord<RefreshTokenRecord>) -> Bool {
        refreshTokens.contains { $0.sealed.box == token.sealed.box }
    }

    /// Whether there is a key that is not the one of a new token.
    ///
    /// - Parameter thumbprint: `nil` if the new token is bound to none.
    package func hasKey(otherThan thumbprint: String?) -> Bool {
        guard let thumbprint, let key = proofKey?.record.thumbprint else { return false }
        return key != thumbprint
    }

    /// Refresh tokens that may be redeemed for a token of this type, in order of preference.
    ///
    /// A bound one brings only bound tokens, unless it was seen to bring bearer tokens (decision 14). An unbound one can bring
    /// either: a public client's is bound from then on (RFC 9449, section 5).
    package func refreshTokens(for type: TokenType) -> [StoredRecord<RefreshTokenRecord>] {
        switch type {
        case .bearer:
            [refreshToken, boundRefreshToken.flatMap { $0.record.givesBearer == true ? $0 : nil }].compactMap(\.self)
                .sorted { $0.record.cachedAt > $1.record.cachedAt }
        case .dpop: [boundRefreshToken, refreshToken].compactMap(\.self)
        }
    }

    /// Refresh tokens that may be redeemed for a token of this type, with those of families last. A family's token brings only
    /// bearer tokens: it is shared by many clients, while a key belongs to one.
    package func spendable(for type: TokenType, _ family: FamilyKnowledge) -> [StoredRecord<RefreshTokenRecord>] {
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
        idTokenLifetimes[action.record.realm] = action.put.flatMap { TokenLifetime($0.record) }
    }

    package mutating func apply(_ action: CacheChange.Action<ProofKeyRecord>) { proofKey = action.put }

    /// Removes the records that a new grant replaces. A record put under the same key afterwards stays.
    ///
    /// - Parameters:
    ///   - spent: `nil` after a sign-in: then the remains of an ended one are removed too.
    ///   - refreshToken: the provider's replacement of `spent`; stored separately if it is bound and `spent` was not.
    ///   - thumbprint: the thumbprint of the key that new tokens are bound to: tokens of an earlier key can no longer be used.
    package func deletion(
        supersededBy accessToken: AccessTokenRecord, _ refreshToken: RefreshTokenRecord?,
        for spent: StoredRecord<RefreshTokenRecord>?, boundTo thumbprint: String?
    ) -> [CacheChange.Row] {
        var gone = accessTokens(replacedBy: accessToken).map(\.stored)
        if spent == nil {
            let replaced = Set(gone.map(\.sealed.box))
            gone += accessTokens.map(\.stored)
                .filter { $0.record.isOfEndedSignIn == true && !replaced.contains($0.sealed.box) }
        }
        var spentTokens: [StoredRecord<RefreshTokenRecord>] = []
        if refreshToken != nil, let spent, spent.record.familyID == nil, holds(spent) { spentTokens.append(spent) }
        if hasKey(otherThan: thumbprint) {
            gone += accessTokens.map(\.stored)
                .filter { $0.record.tokenType == .dpop && $0.record.keyThumbprint != thumbprint }
            if let boundRefreshToken { spentTokens.append(boundRefreshToken) }
        }
        if let rival = rival(of: refreshToken) { spentTokens.append(rival) }
        return gone.map { .accessToken(.delete($0)) } + spentTokens.map { .refreshToken(.delete($0)) }
    }

    /// The refresh token that one from an import or a backup would replace: the same one, or the other source of bearer tokens.
    package func predecessor(of other: RefreshTokenRecord) -> StoredRecord<RefreshTokenRecord>? {
        refreshTokens.first { $0.record.key == other.key } ?? rival(of: other)
    }

    /// The other refresh token that brings bearer tokens. Only the newer of the two is kept, bound or not.
    private func rival(of new: RefreshTokenRecord?) -> StoredRecord<RefreshTokenRecord>? {
        guard let new, new.familyID == nil else { return nil }
        if new.keyThumbprint == nil { return boundRefreshToken.flatMap { $0.record.givesBearer == true ? $0 : nil } }
        return new.givesBearer == true ? refreshToken : nil
    }

    /// Removes everything.
    package func deletion(from owner: TokenOwner) -> [CacheChange.Row] {
        accessTokens.map { .accessToken(.delete($0.stored)) } + refreshTokens.map { .refreshToken(.delete($0)) }
            + idTokens.map { realm, sealed in
                .idToken(
                    .delete(
                        StoredRecord(record: IDTokenRecord(owner: owner, realm: realm, cachedAt: 0), sealed: sealed)))
            } + [proofKey].compactMap(\.self).map { .proofKey(.delete($0)) }
    }
}

extension Array {
    /// The oldest records beyond the limit.
    fileprivate func surplus<Record: VaultRecord>(
        over most: Int, by time: (Record) -> NumericDate
    ) -> ArraySlice<Element> where Element == StoredRecord<Record> {
        guard count > most else { return [] }
        return sorted { time($0.record) < time($1.record) }.prefix(count - most)
    }
}

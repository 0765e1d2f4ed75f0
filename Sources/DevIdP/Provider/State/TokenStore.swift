/// Codes, grants and tokens, with the rules for exchanging them. Pure: time and fresh names come from the caller.
struct TokenStore: Sendable {
    private var grants: [String: Grant] = [:]
    private var codes: [String: AuthorizationCode] = [:]
    private var accessTokens: [String: AccessTokenRecord] = [:]
    private var refreshTokens: [String: RefreshTokenRecord] = [:]
    private(set) var repeatedRefreshes = 0

    mutating func addCode(_ code: String, for grant: Grant, target: AuthorizationRequest.RedirectTarget, expiresAt: Int)
    {
        grants[grant.id] = grant
        codes[code] = AuthorizationCode(
            grantID: grant.id, redirectURI: target.uri, challenge: target.challenge, proofKey: target.proofKey,
            expiresAt: expiresAt)
    }

    /// Exchanges a code (RFC 6749, section 4.1.3; RFC 7636, section 4.6).
    ///
    /// A second use, and a wrong verifier, mean that an attacker has the code: its tokens are revoked.
    mutating func redeem(
        code: String, redirectURI: String?, verifier: String?, by requester: TokenRequester
    ) throws(OAuthFailure) -> Redemption {
        guard var record = codes[code], let grant = grants[record.grantID], grant.clientID == requester.client.id else {
            throw OAuthFailure(.invalidGrant, "the code is unknown, or was given to another client")
        }
        guard !record.isUsed else {
            revoke(grant.id)
            throw OAuthFailure(.invalidGrant, "the code was used before; its tokens are revoked", .codeUsed)
        }
        guard requester.now < record.expiresAt else {
            throw OAuthFailure(.invalidGrant, "the code has expired", .codeExpired)
        }
        guard redirectURI == record.redirectURI else {
            throw OAuthFailure(.invalidGrant, "redirect_uri is not the one of the authorization request")
        }
        record.isUsed = true
        codes[code] = record
        guard let verifier, ProofKey.matches(verifier: verifier, challenge: record.challenge) else {
            throw OAuthFailure(.invalidGrant, "code_verifier does not match code_challenge", .verifierMismatch)
        }
        guard record.proofKey == nil || record.proofKey == requester.proofKey else {
            throw OAuthFailure(.invalidGrant, "the proof is not by the key of the authorization request")
        }
        return firstRedemption(of: grant, by: requester)
    }

    /// Stores a person's grant for a device.
    mutating func redeem(device grant: Grant, by requester: TokenRequester) -> Redemption {
        grants[grant.id] = grant
        return firstRedemption(of: grant, by: requester)
    }

    private mutating func firstRedemption(of grant: Grant, by requester: TokenRequester) -> Redemption {
        Redemption(
            grant: grant, scopes: grant.scopes, resources: grant.resources,
            refreshToken: requester.policy.issuesRefreshTokens
                ? addRefreshToken(grantID: grant.id, by: requester) : nil,
            nonce: grant.nonce)
    }

    /// Exchanges a refresh token (RFC 6749, section 6), with rotation and the detection of reuse of RFC 9700,
    /// section 4.14.2.
    ///
    /// - Parameters:
    ///   - scopes, resources: the requested ones; `nil` or none means all that were granted.
    mutating func redeem(
        refreshToken: String, scopes asked: [String]?, resources: [String], rules: RefreshRules,
        isFamily: (String) -> Bool, by requester: TokenRequester
    ) throws(OAuthFailure) -> Redemption {
        guard var record = refreshTokens[refreshToken], let grant = grants[record.grantID] else {
            throw OAuthFailure(.invalidGrant, "the refresh token is unknown", .refreshTokenRevoked)
        }
        if grant.clientID != requester.client.id {
            guard rules.knowsFamilies, isFamily(grant.clientID) else {
                throw OAuthFailure(.invalidGrant, "the refresh token was given to another client")
            }
            guard requester.client.isFamilyMember else {
                throw OAuthFailure(.invalidGrant, "the client is not of the refresh token's family", .clientMismatch)
            }
        }
        guard !grant.isRevoked else {
            throw OAuthFailure(.invalidGrant, "the refresh token is revoked", .refreshTokenRevoked)
        }
        guard record.proofKey == nil || record.proofKey == requester.proofKey else {
            throw OAuthFailure(.invalidGrant, "the refresh token is bound to another key")
        }
        if record.usedAt != nil { repeatedRefreshes += 1 }
        if let usedAt = record.usedAt, requester.now - usedAt >= requester.policy.reuseGrace {
            revoke(grant.id)
            throw OAuthFailure(
                .invalidGrant, "the refresh token was used before; its family is revoked", .refreshTokenRevoked)
        }
        guard requester.now < record.expiresAt else {
            throw OAuthFailure(.invalidGrant, "the refresh token has expired", .refreshTokenExpired)
        }
        if let asked, !rules.allowsOtherScopes, let wider = asked.first(where: { !grant.scopes.contains($0) }) {
            throw OAuthFailure(.invalidScope, "\(wider) was not granted")
        }
        if let wider = resources.first(where: { !grant.resources.contains($0) }) {
            throw OAuthFailure(.invalidTarget, "\(wider) was not in the authorization request")
        }
        var successor: String?
        if requester.policy.rotatesRefreshTokens {
            record.usedAt = record.usedAt ?? requester.now
            refreshTokens[refreshToken] = record
            successor = addRefreshToken(grantID: grant.id, by: requester)
        }
        return Redemption(
            grant: grant, scopes: asked ?? grant.scopes, resources: resources.isEmpty ? grant.resources : resources,
            refreshToken: successor, nonce: nil)
    }

    private mutating func addRefreshToken(grantID: String, by requester: TokenRequester) -> String {
        refreshTokens[requester.freshName] = RefreshTokenRecord(
            grantID: grantID, proofKey: requester.bindingKey,
            expiresAt: requester.now + requester.policy.refreshTokenLifetime)
        return requester.freshName
    }

    mutating func addAccessToken(_ token: String, _ record: AccessTokenRecord) { accessTokens[token] = record }

    /// The live access token and its grant.
    func accessToken(_ token: String, now: Int) -> (record: AccessTokenRecord, grant: Grant)? {
        guard let record = accessTokens[token], now < record.expiresAt, let grant = grants[record.grantID],
            !grant.isRevoked
        else { return nil }
        return (record, grant)
    }

    func holder(of accessToken: String) -> (username: String, clientID: String)? {
        guard let record = accessTokens[accessToken], let grant = grants[record.grantID] else { return nil }
        return (grant.username, record.clientID)
    }
}

extension TokenStore {
    /// Ends a token (RFC 7009, section 2.1): a refresh token with its whole grant, an access token alone.
    ///
    /// - Returns: false if the token belongs to another client; an unknown token is not an error.
    mutating func revoke(token: String, clientID: String) -> Bool {
        if let record = refreshTokens[token] {
            guard grants[record.grantID]?.clientID == clientID else { return false }
            revoke(record.grantID)
        } else if let record = accessTokens[token] {
            guard record.clientID == clientID else { return false }
            accessTokens[token] = nil
        }
        return true
    }

    mutating func revoke(_ grantID: String) { grants[grantID]?.isRevoked = true }

    mutating func revokeAll(sessionID: String, username: String) {
        for grant in grants.values where grant.sessionID == sessionID && grant.username == username {
            revoke(grant.id)
        }
    }

    mutating func revokeAll() {
        for id in grants.keys { revoke(id) }
    }

    /// Makes every issued item of a kind expire now.
    mutating func expire(_ kind: ExpiringKind, now: Int) {
        switch kind {
        case .accessTokens: for key in accessTokens.keys { accessTokens[key]?.expiresAt = now }
        case .refreshTokens: for key in refreshTokens.keys { refreshTokens[key]?.expiresAt = now }
        case .codes: for key in codes.keys { codes[key]?.expiresAt = now }
        case .sessions: break
        }
    }
}

package enum ExpiringKind: String, Codable, Sendable, CaseIterable {
    case accessTokens
    case refreshTokens
    case codes
    /// All browser sessions are signed out.
    case sessions
}

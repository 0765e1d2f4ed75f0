import BrokerModel
import BrokerValues

/// The order of a silent request (MSAL, "Silent"): the cached access token, then the refresh token, then the person.
enum SilentDecision: Sendable {
    case cached(StoredRecord<AccessTokenRecord>)
    case refresh(StoredRecord<RefreshTokenRecord>)
    case interact(ErrorReason)

    struct Question: Sendable {
        var scopes: Scopes
        var realm: String
        var tokenType: TokenType
        var rule: ExpiryRule
        /// `forceRefresh`, or a claims request: the cached access token does not answer it.
        var bypassesCache: Bool
    }

    static func decide(_ question: Question, from tokens: CachedTokens) -> SilentDecision {
        if !question.bypassesCache,
            let token = tokens.accessToken(
                covering: question.scopes, realm: question.realm, type: question.tokenType, rule: question.rule)
        {
            return .cached(token)
        }
        if let refreshToken = tokens.refreshToken { return .refresh(refreshToken) }
        return .interact(.noTokens)
    }
}

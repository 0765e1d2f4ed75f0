import BrokerModel
import BrokerValues

/// The order of a silent request (MSAL, "Silent"): the cached access token, then the refresh tokens, then the person.
package enum SilentDecision: Sendable {
    case cached(StoredRecord<AccessTokenRecord>)
    /// The app's own refresh token first, then a family's: the next is spent when one turns out to be dead.
    case refresh([StoredRecord<RefreshTokenRecord>])
    case interact(ErrorReason)

    package struct Question: Sendable {
        package var scopes: Scopes
        package var realm: String
        package var tokenType: TokenType
        /// Sorted.
        package var resources: [String]
        package var rule: ExpiryRule
        /// `forceRefresh`, or a claims request: the cached access token does not answer it.
        package var bypassesCache: Bool
        /// A token that is good for more is no answer.
        package var ceiling: Scopes?

        package init(
            scopes: Scopes, realm: String, tokenType: TokenType = .bearer, resources: [String] = [], rule: ExpiryRule,
            bypassesCache: Bool = false
        ) {
            self.scopes = scopes
            self.realm = realm
            self.tokenType = tokenType
            self.resources = ScopeRules.sorted(resources: resources)
            self.rule = rule
            self.bypassesCache = bypassesCache
        }
    }

    package static func decide(
        _ question: Question, from tokens: CachedTokens, family: FamilyKnowledge = FamilyKnowledge()
    ) -> SilentDecision {
        if !question.bypassesCache, let token = tokens.accessToken(for: question, question.rule.isUsable) {
            return .cached(token)
        }
        let spendable = tokens.spendable(for: question.tokenType, family)
        return spendable.isEmpty ? .interact(.noTokens) : .refresh(spendable)
    }
}

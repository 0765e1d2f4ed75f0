import BrokerModel
import BrokerTokenCache
import BrokerValues

/// The steps of a silent request (MSAL, "Silent"): the cached access token, then the refresh tokens, then the person.
package enum SilentDecision: Sendable {
    case cached(StoredRecord<AccessTokenRecord>)
    /// The app's own refresh token first, then a family's: the next is tried if one turns out to be dead.
    case refresh([StoredRecord<RefreshTokenRecord>])
    case interact(ErrorReason)

    package static func decide(
        _ question: CacheQuestion, from tokens: CachedTokens, family: FamilyKnowledge = FamilyKnowledge()
    ) -> SilentDecision {
        if !question.bypassesCache {
            let idToken = question.measuredIDToken(of: tokens)
            let token = tokens.accessToken(for: question) { question.isUsable($0, beside: idToken) }
            if let token { return question.isOver(idToken) ? .interact(.idTokenExpired) : .cached(token) }
        }
        let spendable = tokens.spendable(for: question.tokenType, family)
        return spendable.isEmpty ? .interact(.noTokens) : .refresh(spendable)
    }

    /// The decision for a request that wants no more than its scopes; `nil` if no such token is cached, and no refresh
    /// can bring one. Unlike the question's ceiling this is a wish: a valid token with more scopes is better than none.
    package static func decide(
        narrow question: CacheQuestion, from tokens: CachedTokens, family: FamilyKnowledge, at kind: ProviderKind
    ) -> SilentDecision? {
        let wanted = question.scopes.union(.harmless)
        var narrow = question
        narrow.ceiling = question.ceiling.map(wanted.intersection) ?? wanted
        let decision = decide(narrow, from: tokens, family: family)
        switch decision {
        case .cached: return decision
        case .refresh(let spendable):
            let (scopes, resources) = (question.scopes, question.resources)
            let first = spendable.first {
                ScopeRules.mayRefresh(scopes, resources: resources, spending: $0.record, at: kind)
            }
            let canNarrow = first.map {
                ScopeRules.canNarrow(to: scopes, resources: resources, spending: $0.record, at: kind)
            }
            return canNarrow == true ? decision : nil
        case .interact: return nil
        }
    }
}

extension CacheQuestion {
    /// The ID token's lifetime, if the request asks for that; `nil` also if its expiry is unknown.
    func measuredIDToken(of tokens: CachedTokens) -> TokenLifetime? {
        lifetimeOf == .idToken ? tokens.idTokenLifetimes[realm] : nil
    }

    /// Whether the lifetimes of a cached access token and its ID token suffice for the request.
    func isUsable(_ token: AccessTokenRecord, beside idToken: TokenLifetime?) -> Bool {
        guard lifetimeOf == .idToken, let idToken else { return rule.isUsable(token) }
        // The refresh that brought the access token brought no other ID token; the next would not either.
        return rule.withoutMinimum.isUsable(token) && (rule.isUsable(idToken) || idToken.cachedAt < token.cachedAt)
    }

    /// Whether the lifetimes suffice while the provider cannot be reached.
    func isUsableInBuffer(_ token: AccessTokenRecord, beside idToken: TokenLifetime?) -> Bool {
        guard lifetimeOf == .idToken, let idToken else { return rule.isUsableInBuffer(token) }
        return rule.withoutMinimum.isUsableInBuffer(token) && rule.isUsableInBuffer(idToken)
    }

    /// Whether the ID token is requested and has expired.
    func isOver(_ idToken: TokenLifetime?) -> Bool {
        lifetimeOf == .idToken && idToken.map { !rule.isAlive($0) } ?? false
    }
}

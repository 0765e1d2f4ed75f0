import BrokerModel

/// What `invalid_scope` means as the answer to a refresh. RFC 6749, section 5.2, has one word for three things. Pure.
package enum ScopeRefusal: Sendable, Equatable {
    /// The provider does not have such a scope, or not for this client: a mistake of the developer's (MSAL, "Errors").
    case unknown
    /// The person has not granted all of it yet, and can be asked.
    case notGranted
    /// The person granted it, and the provider forgot it with a refresh that asked for less; the person can be asked again.
    case narrowed

    static let notGrantedSentence = "You have not agreed to all of these scopes yet; sign in to do so."

    /// - Parameters:
    ///   - asked: what the app asked for.
    ///   - sent: what the provider was asked for on its behalf.
    ///   - token: the refresh token that was sent.
    ///   - kind: of the provider. Where grants follow consent, there are other words for what was not granted.
    package init(asked: Scopes, sent: Scopes, spending token: RefreshTokenRecord, at kind: ProviderKind) {
        // Not among what was granted, as far as is known, and not missed.
        let asked = asked.subtracting(ScopeRules.forgiven)
        let sent = sent.subtracting(ScopeRules.forgiven)
        if kind.rules.grantsFollowConsent {
            self = .unknown
        } else if !asked.isSubset(of: Scopes(token.scopes)) {
            self = .notGranted
        } else if let narrowedTo = token.narrowedTo, !asked.isSubset(of: Scopes(narrowedTo)) {
            self = .narrowed
        } else {
            // Beyond what the app asked for, it is the grant itself that the provider no longer stands by.
            self = sent.subtracting(.reserved).isSubset(of: asked) ? .unknown : .notGranted
        }
    }
}

import BrokerModel

/// The meaning of `invalid_scope` in response to a refresh. RFC 6749, section 5.2, has one code for three cases. Pure.
package enum ScopeRefusal: Sendable, Equatable {
    /// The provider does not have such a scope, or not for this client: the developer's mistake (MSAL, "Errors").
    case unknown
    /// The person has not granted all of it yet, and can be asked.
    case notGranted
    /// The person granted it, and the provider dropped it with a refresh for fewer scopes; the person can be asked again.
    case narrowed

    static let notGrantedSentence = "You have not agreed to all of these scopes yet; sign in to do so."

    /// - Parameters:
    ///   - asked: the scopes that the app requested.
    ///   - sent: the scopes sent to the provider for it.
    ///   - token: the refresh token that was sent.
    ///   - kind: the kind of the provider. If grants follow consent, other codes mean that a scope was not granted.
    package init(asked: Scopes, sent: Scopes, spending token: RefreshTokenRecord, at kind: ProviderKind) {
        // A scope whose absence is accepted is not the cause.
        let asked = asked.subtracting(ScopeRules.forgiven)
        let sent = sent.subtracting(ScopeRules.forgiven)
        if kind.rules.grantsFollowConsent {
            self = .unknown
        } else if !asked.isSubset(of: Scopes(token.scopes)) {
            self = .notGranted
        } else if let narrowedTo = token.narrowedTo, !asked.isSubset(of: Scopes(narrowedTo)) {
            self = .narrowed
        } else {
            // Beyond the app's scopes, the provider no longer accepts the grant itself.
            self = sent.subtracting(.reserved).isSubset(of: asked) ? .unknown : .notGranted
        }
    }
}

/// How much of an app's accounts and tokens a request touches: what a grant for a part is held against.
package enum AppReach: Sendable, Hashable {
    /// A token.
    /// - scopes: none means the app's usual ones.
    /// - resources: where the token is to be good (RFC 8707).
    /// - extra: what is asked for besides: by a challenge, or for the person's consent.
    /// - account: nil leaves the choice to the broker.
    case token(scopes: [String], resources: [String] = [], extra: [String] = [], account: AccountReference?)
    /// One account; nil leaves the choice to the broker.
    case account(AccountReference?)
    /// Taking an account's tokens away, from the app or from its whole group.
    case removal(AccountReference?)
    /// Every account of the app's group.
    case everything
}

/// The part of an app's accounts and tokens that a request uses: a partial grant is checked against it.
package enum AppReach: Sendable, Hashable {
    /// A token.
    /// - scopes: the token's scopes; empty for the app's usual ones.
    /// - resources: the resources that the token is for (RFC 8707).
    /// - extra: further scopes, from a challenge or for the user's consent.
    /// - account: the token's account; `nil` leaves the choice to the broker.
    case token(scopes: [String], resources: [String] = [], extra: [String] = [], account: AccountReference?)
    /// One account; `nil` leaves the choice to the broker.
    case account(AccountReference?)
    /// Removing an account's tokens, from the app or from its whole group.
    case removal(AccountReference?)
    /// Every account of the app's group.
    case everything

    /// The account that is named; `nil` if none is.
    package var account: AccountReference? {
        get {
            switch self {
            case .token(_, _, _, let account), .account(let account), .removal(let account): account
            case .everything: nil
            }
        }
        set {
            switch self {
            case .token(let scopes, let resources, let extra, _):
                self = .token(scopes: scopes, resources: resources, extra: extra, account: newValue)
            case .account: self = .account(newValue)
            case .removal: self = .removal(newValue)
            case .everything: break
            }
        }
    }
}

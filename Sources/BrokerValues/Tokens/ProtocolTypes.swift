/// Seconds since 1970-01-01T00:00:00Z (RFC 7519, section 2, without its fraction).
package typealias NumericDate = Int64

/// How the user is prompted (OpenID Connect Core, section 3.1.2.1; `create` is its registration extension).
package enum Prompt: String, Codable, Sendable, CaseIterable {
    case login
    case selectAccount = "select_account"
    case consent
    case create
    case none
}

/// The form in which a resource accepts the access token: RFC 6750 or RFC 9449.
package enum TokenType: String, Codable, Sendable, CaseIterable {
    case bearer = "Bearer"
    case dpop = "DPoP"
}

/// The token of a response whose lifetime is measured.
package enum MeasuredToken: String, Codable, Sendable, CaseIterable {
    case accessToken
    case idToken
}

/// Whether the client opens the sign-in page, in its user's session, or the broker itself.
package enum Presentation: String, Codable, Sendable, CaseIterable {
    case client
    case broker
}

/// The notifications that a client can subscribe to (`broker.subscribe`).
package enum EventTopic: String, Codable, Sendable, CaseIterable, Hashable {
    case account
    case token
    case interaction
    case grant
}

/// A change of an account or of its tokens.
package enum AccountChange: String, Codable, Sendable, CaseIterable {
    case signedIn
    /// The account was signed out of one app, or of all apps of a group.
    case signedOut
    /// The account is no longer known to the group.
    case removed
}

package enum TokenChange: String, Codable, Sendable, CaseIterable {
    /// A new access token, by a sign-in or a refresh.
    case acquired
    /// The provider no longer accepts the refresh token: the next request needs the user.
    case refreshTokenRejected
}

package enum InteractionChange: String, Codable, Sendable, CaseIterable {
    case opened
    case succeeded
    case failed
}

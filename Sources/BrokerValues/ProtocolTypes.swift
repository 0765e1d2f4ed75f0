/// Seconds since 1970-01-01T00:00:00Z (RFC 7519, section 2, without its fraction).
package typealias NumericDate = Int64

/// How the person is asked (OpenID Connect Core, section 3.1.2.1; `create` is its registration extension).
package enum Prompt: String, Codable, Sendable, CaseIterable {
    case login
    case selectAccount = "select_account"
    case consent
    case create
    case none
}

/// How a resource takes the access token: RFC 6750 or RFC 9449.
package enum TokenType: String, Codable, Sendable, CaseIterable {
    case bearer = "Bearer"
    case dpop = "DPoP"
}

/// Which token of an answer a lifetime is about.
package enum MeasuredToken: String, Codable, Sendable, CaseIterable {
    case accessToken
    case idToken
}

/// Who shows the sign-in page: the client, in the session of its user, or the broker itself.
package enum Presentation: String, Codable, Sendable, CaseIterable {
    case client
    case broker
}

/// What a client can be told about unasked (`broker.subscribe`).
package enum EventTopic: String, Codable, Sendable, CaseIterable, Hashable {
    case account
    case token
    case interaction
    case grant
}

/// What became of an account or of its tokens.
package enum AccountChange: String, Codable, Sendable, CaseIterable {
    case signedIn
    /// For one app, or for all of a group.
    case signedOut
    /// Nobody of the group knows the account any more.
    case removed
}

package enum TokenChange: String, Codable, Sendable, CaseIterable {
    /// A new access token, by a sign-in or a refresh.
    case acquired
    /// The provider does not take the refresh token any more: the next request needs the person.
    case refreshTokenRejected
}

package enum InteractionChange: String, Codable, Sendable, CaseIterable {
    case opened
    case succeeded
    case failed
}

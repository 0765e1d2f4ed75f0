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

/// Who shows the sign-in page: the client, in the session of its user, or the broker itself.
package enum Presentation: String, Codable, Sendable, CaseIterable {
    case client
    case broker
}

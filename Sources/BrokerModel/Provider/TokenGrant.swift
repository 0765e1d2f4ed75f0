/// The grant that a token request redeems.
package enum TokenGrant: Sendable {
    /// RFC 6749, section 4.1.3, with the verifier of RFC 7636.
    case authorizationCode(Secret, verifier: Secret, redirectURI: String)
    /// RFC 6749, section 6.
    case refreshToken(Secret, scopes: Scopes)
    /// RFC 8628, section 3.4.
    case deviceCode(Secret)
}

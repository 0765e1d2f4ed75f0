/// The kinds of token that can be revoked, by their names in `token_type_hint` (RFC 7009, section 2.1).
package enum RevocableToken: String, Sendable {
    case refreshToken = "refresh_token"
    case accessToken = "access_token"
}

/// How long things live and how refresh tokens behave. It can be changed on a running provider; what is already issued
/// keeps its expiry. Durations in seconds.
package struct TokenPolicy: Codable, Sendable, Equatable {
    package var accessTokenLifetime = 3600
    package var idTokenLifetime = 3600
    package var refreshTokenLifetime = 14 * 86400
    package var codeLifetime = 60
    package var issuesRefreshTokens = true
    /// Each refresh token works once (RFC 9700, section 4.14.2); otherwise one serves until it expires.
    package var rotatesRefreshTokens = true
    /// For this long a used refresh token is still answered, with a sibling of its successor; later it ends the family.
    package var reuseGrace = 0
    /// Signing out at the provider also ends the refresh tokens of that browser session.
    package var logoutEndsRefreshTokens = false

    package init() {}
}

/// A change of some fields of the policy, as the control endpoint takes it.
struct TokenPolicyChange: Decodable {
    var accessTokenLifetime: Int?
    var idTokenLifetime: Int?
    var refreshTokenLifetime: Int?
    var codeLifetime: Int?
    var issuesRefreshTokens: Bool?
    var rotatesRefreshTokens: Bool?
    var reuseGrace: Int?
    var logoutEndsRefreshTokens: Bool?

    func applied(to policy: TokenPolicy) -> TokenPolicy {
        var policy = policy
        policy.accessTokenLifetime = accessTokenLifetime ?? policy.accessTokenLifetime
        policy.idTokenLifetime = idTokenLifetime ?? policy.idTokenLifetime
        policy.refreshTokenLifetime = refreshTokenLifetime ?? policy.refreshTokenLifetime
        policy.codeLifetime = codeLifetime ?? policy.codeLifetime
        policy.issuesRefreshTokens = issuesRefreshTokens ?? policy.issuesRefreshTokens
        policy.rotatesRefreshTokens = rotatesRefreshTokens ?? policy.rotatesRefreshTokens
        policy.reuseGrace = reuseGrace ?? policy.reuseGrace
        policy.logoutEndsRefreshTokens = logoutEndsRefreshTokens ?? policy.logoutEndsRefreshTokens
        return policy
    }
}

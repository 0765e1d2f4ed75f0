import FoundationEssentials

/// Lifetimes, the behavior of refresh tokens, and requirements for clients. It can be changed on a running
/// provider; issued tokens keep their expiry. Durations in seconds.
package struct TokenPolicy: Codable, Sendable, Equatable {
    package var accessTokenLifetime = 3600
    package var idTokenLifetime = 3600
    package var refreshTokenLifetime = 14 * 86400
    package var codeLifetime = 60
    package var issuesRefreshTokens = true
    /// Each refresh token works once (RFC 9700, section 4.14.2); otherwise one serves until it expires.
    package var rotatesRefreshTokens = true
    /// For this long a used refresh token is still accepted, with a sibling of its successor; later it ends the family.
    package var reuseGrace = 0
    /// Signing out at the provider also ends the refresh tokens of that browser session.
    package var logoutEndsRefreshTokens = false

    /// RFC 8628, section 3.2.
    package var deviceCodeLifetime = 900
    package var devicePollInterval = 5
    /// Refuse authorization requests that were not pushed (RFC 9126, section 5).
    package var requiresPushedAuthorization = false
    package var pushedRequestLifetime = 60
    /// Refuse token requests without a DPoP proof (RFC 9449, section 5).
    package var requiresProof = false
    /// Refuse proofs without a nonce of this provider (RFC 9449, section 8).
    package var requiresProofNonce = false
    /// Accept proofs, bind refresh tokens to their key, but issue bearer tokens, as Google does.
    package var bindsRefreshTokensOnly = false

    /// `refresh_in` of Entra's responses; 0 leaves it out.
    package var refreshIn = 0
    /// `ext_expires_in` of Entra's responses; 0 makes it equal to `expires_in`.
    package var extendedLifetime = 0

    package init() {}
}

/// A change of some fields of the policy, from the control endpoint.
struct TokenPolicyChange: Decodable {
    private let members: [String: JSON]

    init(from decoder: any Decoder) throws {
        members = try decoder.singleValueContainer().decode([String: JSON].self)
    }

    /// - Throws: for an unknown field, and for a value of the wrong type.
    func applied(to policy: TokenPolicy) throws -> TokenPolicy {
        var fields = try JSONDecoder().decode([String: JSON].self, from: Data(try jsonText(policy).utf8))
        for (name, value) in members {
            guard fields[name] != nil else { throw UnknownField(name: name) }
            fields[name] = value
        }
        return try JSONDecoder().decode(TokenPolicy.self, from: Data(try jsonText(fields).utf8))
    }

    struct UnknownField: Error, CustomStringConvertible {
        let name: String
        var description: String { "the policy has no field \(name)" }
    }
}

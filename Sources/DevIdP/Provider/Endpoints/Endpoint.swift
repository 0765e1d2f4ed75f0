/// The places of the provider, by the names that faults and the log use.
package enum Endpoint: String, Codable, Sendable, CaseIterable {
    case discovery
    case jwks
    case authorize
    /// The pages behind the authorization endpoint: sign-in, account chooser, consent.
    case interaction
    case token
    case userinfo
    case revoke
    case endSession
    case control
    case other

    /// Below the issuer.
    static let paths: [String: Endpoint] = [
        "/.well-known/openid-configuration": .discovery,
        "/jwks": .jwks,
        "/authorize": .authorize,
        "/login": .interaction, "/choose": .interaction, "/consent": .interaction, "/cancel": .interaction,
        "/token": .token,
        "/userinfo": .userinfo,
        "/revoke": .revoke,
        "/logout": .endSession,
    ]
}

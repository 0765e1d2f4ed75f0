/// The endpoints of the provider, by the names that faults and the log use.
package enum Endpoint: String, Codable, Sendable, CaseIterable {
    case discovery
    case jwks
    case authorize
    /// The pages behind the authorization endpoint: sign-in, account chooser, consent, device codes.
    case interaction
    case token
    case userinfo
    case revoke
    case introspect
    case endSession
    case deviceAuthorization
    case par
    case register
    case control
    case other

    /// The provider's own pages.
    static let pages: [String: Endpoint] = [
        "/login": .interaction, "/choose": .interaction, "/create": .interaction, "/consent": .interaction,
        "/cancel": .interaction, "/device": .interaction,
    ]
}

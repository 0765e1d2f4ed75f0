/// Everything that can be chosen about a provider before it starts. The defaults suit a demo: a few people, a few
/// clients, lifetimes as real providers have them.
package struct ProviderOptions: Sendable {
    /// A loopback address; anything else is refused at start.
    package var host = "127.0.0.1"
    /// 0 lets the kernel choose.
    package var port: UInt16 = 0
    /// The port in all of its addresses, where something stands in front of it; nil is its own.
    package var frontPort: UInt16?
    /// Put behind the origin to form the issuer: `/o`, or empty.
    package var issuerPath = ""
    package var users = ProviderUser.samples
    package var clients = ProviderClient.samples
    /// Accept client ids that nobody registered, as public clients with loopback redirects.
    package var allowsAnyClient = false
    /// What clients may ask for. Other scopes are answered `invalid_scope`.
    package var scopes: Set<String> = [
        "openid", "profile", "email", "offline_access", "notes.read", "notes.write", "calendar.read", "mail.read",
    ]
    /// Scopes that may be asked for and are never granted: the answer is narrower than the request.
    package var declinedScopes: Set<String> = []
    /// Scopes that are published and refused: a request for one of them is `invalid_scope`.
    package var refusedScopes: Set<String> = []
    /// Ask the person once for every client and scope; otherwise consent is taken for granted.
    package var asksConsent = false
    package var accessTokenFormat = AccessTokenFormat.opaque
    package var idTokenAlgorithm = SigningAlgorithm.rs256
    /// Which kind of provider this one plays.
    package var flavor = ProviderFlavor.openID
    /// The address of this very page comes with a device code, too (RFC 8628, section 3.3.1).
    package var givesCompleteVerificationURI = true
    /// Clients may register themselves (RFC 7591).
    package var allowsRegistration = true
    /// Who registers a client must show this token (RFC 7591, section 3); nil lets everyone.
    package var initialAccessToken: String?
    package var policy = TokenPolicy()
    /// In force from the first request on; more can be added while the provider runs.
    package var faults: [Fault] = []
    /// Seconds since 1970. Every expiry follows it.
    package var now: @Sendable () -> Int = { systemTime() }

    package init() {}

    /// Options that suit an Entra-shaped provider: its first two sample clients are a family, and a refresh token that
    /// was used stays good beside its successor.
    package static func entra(_ directory: EntraDirectory = EntraDirectory()) -> ProviderOptions {
        var options = ProviderOptions()
        options.flavor = .entra(directory)
        options.policy.reuseGrace = options.policy.refreshTokenLifetime
        options.accessTokenFormat = .jwt
        for index in options.clients.indices.prefix(2) { options.clients[index].isFamilyMember = true }
        return options
    }
}

package enum ProviderFlavor: Sendable, Equatable {
    /// What the standards say, and nothing else.
    case openID
    /// Microsoft Entra's v2.0 endpoints, for the tenants and people of a directory.
    case entra(EntraDirectory)
}

package enum AccessTokenFormat: String, Sendable, CaseIterable {
    case opaque
    /// RFC 9068.
    case jwt
}

package enum SigningAlgorithm: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case es256 = "ES256"
}

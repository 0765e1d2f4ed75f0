/// The settings of a provider before it starts. The defaults suit a demo: a few people, a few
/// clients, realistic lifetimes.
package struct ProviderOptions: Sendable {
    /// A loopback address; anything else is refused at start.
    package var host = "127.0.0.1"
    /// 0 lets the kernel choose.
    package var port: UInt16 = 0
    /// The port in all of its URLs if a proxy is in front of it; `nil` is its own.
    package var frontPort: UInt16?
    /// Appended to the origin to form the issuer: `/o`, or empty.
    package var issuerPath = ""
    package var users = ProviderUser.samples
    package var clients = ProviderClient.samples
    /// Accept unregistered client ids, as public clients with loopback redirects.
    package var allowsAnyClient = false
    /// The scopes that clients may request. Other scopes result in `invalid_scope`.
    package var scopes: Set<String> = [
        "openid", "profile", "email", "offline_access", "notes.read", "notes.write", "calendar.read", "mail.read",
    ]
    /// Scopes that may be requested and are never granted: the response has fewer than the request.
    package var declinedScopes: Set<String> = []
    /// Scopes that are published and refused: a request for one of them is `invalid_scope`.
    package var refusedScopes: Set<String> = []
    /// Ask the person once for every client and scope; otherwise consent is implied.
    package var asksConsent = false
    package var accessTokenFormat = AccessTokenFormat.opaque
    package var idTokenAlgorithm = SigningAlgorithm.rs256
    /// The kind of provider to emulate.
    package var flavor = ProviderFlavor.openID
    /// A device code is returned with a URL that contains it, too (RFC 8628, section 3.3.1).
    package var givesCompleteVerificationURI = true
    /// Clients may register themselves (RFC 7591).
    package var allowsRegistration = true
    /// The token required for registering a client (RFC 7591, section 3); `nil` for none.
    package var initialAccessToken: String?
    package var policy = TokenPolicy()
    /// Active from the first request on; more can be added while the provider runs.
    package var faults: [Fault] = []
    /// Seconds since 1970. Every expiry follows it.
    package var now: @Sendable () -> Int = { systemTime() }

    package init() {}

    /// Options that suit an Entra-like provider: its first two sample clients are a family, and a used refresh token
    /// stays valid together with its successor.
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
    /// The standards only.
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

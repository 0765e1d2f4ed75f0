/// Everything that can be chosen about a provider before it starts. The defaults suit a demo: a few people, a few
/// clients, lifetimes as real providers have them.
package struct ProviderOptions: Sendable {
    /// A loopback address; anything else is refused at start.
    package var host = "127.0.0.1"
    /// 0 lets the kernel choose.
    package var port: UInt16 = 0
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
    /// Ask the person once for every client and scope; otherwise consent is taken for granted.
    package var asksConsent = false
    package var accessTokenFormat = AccessTokenFormat.opaque
    package var idTokenAlgorithm = SigningAlgorithm.rs256
    package var policy = TokenPolicy()
    /// In force from the first request on; more can be added while the provider runs.
    package var faults: [Fault] = []
    /// Seconds since 1970. Every expiry follows it.
    package var now: @Sendable () -> Int = { systemTime() }

    package init() {}
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

/// A registered OAuth client (RFC 6749, section 2).
package struct ProviderClient: Sendable, Equatable {
    package var id: String
    /// A client with a secret is confidential and must use it; without one it is public.
    package var secret: String?
    package var name: String
    /// See ``RedirectURIRules`` for the comparison with a request's URI.
    package var redirectURIs: [String]
    package var postLogoutRedirectURIs: [String]
    /// Entra's family of client ids: its members may redeem each other's refresh tokens.
    package var isFamilyMember = false
    /// RFC 9126, section 6.
    package var requiresPushedAuthorization = false
    /// RFC 9449, section 5.2.
    package var requiresProof = false

    package init(
        id: String, secret: String? = nil, name: String? = nil,
        redirectURIs: [String] = ProviderClient.loopbackRedirectURIs,
        postLogoutRedirectURIs: [String] = ProviderClient.loopbackRedirectURIs
    ) {
        self.id = id
        self.secret = secret
        self.name = name ?? id
        self.redirectURIs = redirectURIs
        self.postLogoutRedirectURIs = postLogoutRedirectURIs
    }

    /// The redirect URIs of a native app (RFC 8252, section 7.3): loopback, any port.
    package static let loopbackRedirectURIs = ["127.0.0.1", "[::1]", "localhost"].flatMap { host in
        ["/", "/callback", "/redirect", "/signed-out"].map { "http://\(host)\($0)" }
    }

    package static let samples = [
        ProviderClient(id: "demo-one", name: "Demo One"),
        ProviderClient(id: "demo-two", name: "Demo Two"),
        ProviderClient(id: "demo-other", name: "Demo Other"),
        ProviderClient(id: "demo-confidential", secret: "demo-secret-1", name: "Demo Confidential"),
    ]
}

import BrokerValues

/// Identifies the app to the provider, and locates the broker (MSAL: `MSALPublicClientApplicationConfig`).
///
/// ``PublicClientApplication`` takes a copy: changing the configuration afterwards has no effect on it.
public struct PublicClientApplicationConfig: Sendable {
    var app: AppReference
    /// Overrides the registered redirect URI (RFC 6749, section 3.1.2; MSAL: `redirectUri`). Leave it out unless the provider
    /// requires a certain one.
    public var redirectUri: String?
    /// The path of the broker's socket. If it is omitted, `$BROKER_SOCKET` is used, then
    /// `$XDG_RUNTIME_DIR/brokerd/broker.sock`, then `/run/user/UID/brokerd/broker.sock`.
    public var socketPath: String?
    /// The minimum remaining lifetime of a token in seconds, for every silent request without its own
    /// (MSAL: `tokenExpirationBuffer`). By default the broker's own buffer applies: 300 seconds unless configured, but at most a
    /// fifth of the token's own lifetime.
    public var tokenExpirationBuffer: Int?
    /// The app's capabilities (MSAL: `clientApplicationCapabilities`): `cp1` declares support for claims challenges, so
    /// that tokens may be long-lived and can be revoked at once.
    public var clientApplicationCapabilities: [String] = []

    /// Whether people of other clouds than the authority's may sign in (MSAL: `multipleCloudsSupported`): at Microsoft Entra,
    /// if the app is registered in those clouds, too. False leaves it to the app's registration with the broker.
    public var multipleCloudsSupported = false

    /// Configures an app that is registered with the broker (`brokerctl apps add`). It shares accounts with the apps of its group.
    ///
    /// - Parameter app: the registered name.
    public init(app: String) {
        self.app = .registered(app)
    }

    /// Configures an app that is not registered with the broker (MSAL: `init(clientId:redirectUri:authority:)`). The broker's
    /// settings must allow this (`access.allow_ad_hoc_clients`).
    ///
    /// - Parameters:
    ///   - clientId: the app's id at the provider (RFC 6749, section 2.2).
    ///   - redirectUri: the redirect URI that is registered with the provider; if omitted, any port on the loopback address
    ///     (RFC 8252, section 7.3).
    ///   - authority: the issuer's URL; `AUTHORITY/.well-known/openid-configuration` is its discovery document (OpenID Connect
    ///     Discovery 1.0, section 4).
    public init(
        clientId: String, redirectUri: String? = nil,
        authority: String = "https://login.microsoftonline.com/common"
    ) {
        app = .adHoc(clientID: clientId, authority: authority)
        self.redirectUri = redirectUri
    }
}

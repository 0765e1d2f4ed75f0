import BrokerValues

/// Identifies the app to the provider, and locates the broker (MSAL: `MSALPublicClientApplicationConfig`).
///
/// ``PublicClientApplication`` takes a copy: changing the configuration afterwards has no effect on it.
public struct PublicClientApplicationConfig: Sendable {
    var app: AppReference
    /// Overrides the registered redirect URI. Leave it out unless the provider requires a certain one.
    public var redirectUri: String?
    /// Path of the broker's socket. Without it: `$BROKER_SOCKET`, `$XDG_RUNTIME_DIR/brokerd/broker.sock`,
    /// `/run/user/UID/brokerd/broker.sock`.
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

    /// An app that is registered with the broker (`brokerctl apps add`): it shares accounts with the apps of its group.
    ///
    /// - Parameter app: the registered name.
    public init(app: String) {
        self.app = .registered(app)
    }

    /// An app that need not be registered with the broker; the broker's policy must allow ad hoc use.
    ///
    /// - Parameters:
    ///   - clientId: the app's id at the provider.
    ///   - redirectUri: as registered with the provider; any port on the loopback address if left out.
    ///   - authority: the issuer's URL; `AUTHORITY/.well-known/openid-configuration` is its discovery document.
    public init(
        clientId: String, redirectUri: String? = nil,
        authority: String = "https://login.microsoftonline.com/common"
    ) {
        app = .adHoc(clientID: clientId, authority: authority)
        self.redirectUri = redirectUri
    }
}

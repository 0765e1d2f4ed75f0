import BrokerValues

/// Who the app is to the provider, and where the broker is (MSAL: `MSALPublicClientApplicationConfig`).
///
/// ``PublicClientApplication`` takes a copy: changing the configuration afterwards has no effect on it.
public struct PublicClientApplicationConfig: Sendable {
    var app: AppReference
    /// Overrides the registered redirect URI. Leave it out unless the provider insists on a certain one.
    public var redirectUri: String?
    /// Path of the broker's socket. Without it: `$BROKER_SOCKET`, `$XDG_RUNTIME_DIR/brokerd/broker.sock`,
    /// `/run/user/UID/brokerd/broker.sock`.
    public var socketPath: String?
    /// Seconds a token must still be good for, for every silent request that does not say otherwise
    /// (MSAL: `tokenExpirationBuffer`). Without it the broker's own buffer counts: 300 seconds by default, but at most a fifth of
    /// the token's own lifetime.
    public var tokenExpirationBuffer: Int?
    /// What the app can deal with (MSAL: `clientApplicationCapabilities`): `cp1` says that it knows claims challenges, so
    /// that tokens may live long and be revoked at once.
    public var clientApplicationCapabilities: [String] = []

    /// Whether people of other clouds than the authority's may sign in (MSAL: `multipleCloudsSupported`): at Microsoft Entra,
    /// where the app is registered in those clouds, too. False leaves it to the app's registration with the broker.
    public var multipleCloudsSupported = false

    /// An app that is registered with the broker (`brokerctl apps add`): it shares accounts with the apps of its group.
    ///
    /// - Parameter app: the registered name.
    public init(app: String) {
        self.app = .registered(app)
    }

    /// An app that the broker need not know; the broker's policy must allow ad hoc use.
    ///
    /// - Parameters:
    ///   - clientId: what the provider calls the app.
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

/// The common parameters of silent and interactive requests (MSAL: `MSALTokenParameters`).
public protocol TokenParameters: Sendable {
    /// The scopes of the token (RFC 6749, section 3.3). The broker adds `openid`, `profile` and `offline_access`; an app that
    /// names one of these gets ``BrokerClientError/Code/invalidParameter``.
    var scopes: [String] { get set }
    /// The account of the token; `nil` if the request was made without one.
    var account: Account? { get }
    /// Another authority of the same kind, for this request only, such as a tenant where the person is a guest.
    var authority: String? { get set }
    /// A claims request as JSON (OpenID Connect Core, section 5.5), or the claims of a challenge as in
    /// `WWW-Authenticate` (in base64). A cached access token is then not used.
    var claimsRequest: String? { get set }
    /// The `WWW-Authenticate` header with which an API refused a token, as received (RFC 6750, section 3; RFC 9470). Its
    /// requirements are added to the request: scopes, claims, the required authentication.
    var challenge: String? { get set }
    /// The resources that the token is for: absolute URIs (RFC 8707). An empty list leaves it to the scopes.
    var resources: [String] { get set }
    /// The type of the token.
    var authenticationScheme: AuthenticationScheme { get set }
    /// Connects the logs of app, broker and provider. A UUID; a new one is made if omitted.
    var correlationId: String? { get set }
}

/// The type of an access token.
public enum AuthenticationScheme: String, Sendable, Hashable, CaseIterable {
    /// Any holder may use the token (RFC 6750).
    case bearer = "Bearer"
    /// The token is bound to a key that stays with the broker (RFC 9449).
    case dpop = "DPoP"
}

/// A request that must not disturb the person (MSAL: `MSALSilentTokenParameters`).
public struct SilentTokenParameters: TokenParameters {
    /// The scopes of the token.
    public var scopes: [String]
    /// The account of the token; `nil` for the only one that matches.
    public let account: Account?
    /// Another authority of the same kind, for this request only.
    public var authority: String?
    /// A claims request or the claims of a challenge, as JSON or in base64.
    public var claimsRequest: String?
    /// The `WWW-Authenticate` header of an API that refused a token, as received.
    public var challenge: String?
    /// The resources that the token is for: absolute URIs (RFC 8707). An empty list leaves it to the scopes.
    public var resources: [String] = []
    /// The type of the token.
    public var authenticationScheme = AuthenticationScheme.bearer
    /// Connects the logs; a UUID, made if omitted.
    public var correlationId: String?
    /// Whether to get a new access token even if the cached one is valid (MSAL: `forceRefresh`).
    public var forceRefresh = false
    /// An access token that the resource server refused: the result is another one, or the same one if it was refreshed
    /// less than a minute ago.
    public var rejectedToken: String?
    /// The minimum remaining lifetime of the token in seconds, at most 86400. By default the configuration's buffer applies
    /// (``PublicClientApplicationConfig/tokenExpirationBuffer``).
    public var minimumLifetime: Int?
    /// Further parameters of the request that refreshes the token. They do not affect a cached token.
    public var extraQueryParameters: [String: String] = [:]

    /// Creates a silent request for the only matching account. If several match, it fails with
    /// ``BrokerClientError/Code/ambiguousAccount``.
    ///
    /// - Parameter scopes: the scopes of the token.
    public init(scopes: [String]) {
        self.scopes = scopes
        account = nil
    }

    /// Creates a silent request for an account.
    ///
    /// There is no form with an optional account: an account that no longer exists must not yield another person's token.
    ///
    /// - Parameters:
    ///   - scopes: the scopes of the token.
    ///   - account: the account of the token.
    public init(scopes: [String], account: Account) {
        self.scopes = scopes
        self.account = account
    }
}

/// A request that asks the person to sign in (MSAL: `MSALInteractiveTokenParameters`).
public struct InteractiveTokenParameters: TokenParameters {
    /// The scopes of the token.
    public var scopes: [String]
    /// The account that must sign in; `nil` for any.
    public let account: Account?
    /// Another authority of the same kind, for this request only.
    public var authority: String?
    /// A claims request or the claims of a challenge, as JSON or in base64.
    public var claimsRequest: String?
    /// The `WWW-Authenticate` header of an API that refused a token, as received.
    public var challenge: String?
    /// The resources that the token is for: absolute URIs (RFC 8707). An empty list leaves it to the scopes.
    public var resources: [String] = []
    /// The type of the token.
    public var authenticationScheme = AuthenticationScheme.bearer
    /// Connects the logs; a UUID, made if omitted.
    public var correlationId: String?
    /// How the person is prompted (MSAL: `promptType`).
    public var promptType = PromptType.promptIfNecessary
    /// The username that the sign-in page fills in (`login_hint`; OpenID Connect Core, section 3.1.2.1). The username of
    /// ``account`` takes precedence.
    public var loginHint: String?
    /// The organization whose sign-in page is shown directly (Entra's `domain_hint`; MSAL: `domainHint`), if the provider supports
    /// such a hint.
    public var domainHint: String?
    /// Scopes to which the person consents at the same time (MSAL: `extraScopesToConsent`). This token need not have them.
    public var extraScopesToConsent: [String] = []
    /// Further parameters of the authorization request. Those that the broker sets itself are refused with
    /// ``BrokerClientError/Code/invalidParameter``.
    public var extraQueryParameters: [String: String] = [:]
    /// The maximum age in seconds of the person's last authentication (`max_age`; OpenID Connect Core, section 3.1.2.1). If it is
    /// older, the person is asked again.
    public var maxAge: Int?
    /// The wanted ways to authenticate, in order of preference: the provider's authentication context class references
    /// (`acr_values`; OpenID Connect Core, section 3.1.2.1).
    public var acrValues: [String] = []
    /// Whether users other than ``loginHint`` are refused, with ``BrokerClientError/Code/mismatchedUser``. A sign-in to an
    /// ``account`` must always be by its owner.
    public var refusesOtherThanLoginHint = false
    /// Whether the request is pushed before the browser opens (RFC 9126), even if the provider does not require it.
    public var pushesAuthorization = false
    /// The seconds that the person has, from 1 to 3600; by default 300.
    public var timeout: Int?
    /// How the sign-in page is shown.
    public var webviewParameters: WebviewParameters

    /// Creates an interactive request that any account may answer.
    ///
    /// - Parameters:
    ///   - scopes: the scopes of the token.
    ///   - webviewParameters: how the sign-in page is shown; the person's browser if left out.
    public init(scopes: [String], webviewParameters: WebviewParameters = WebviewParameters()) {
        self.scopes = scopes
        account = nil
        self.webviewParameters = webviewParameters
    }

    /// Creates an interactive request in which one account must sign in.
    ///
    /// - Parameters:
    ///   - scopes: the scopes of the token.
    ///   - account: the account that must sign in.
    ///   - webviewParameters: how the sign-in page is shown; the person's browser if left out.
    public init(scopes: [String], account: Account, webviewParameters: WebviewParameters = WebviewParameters()) {
        self.scopes = scopes
        self.account = account
        self.webviewParameters = webviewParameters
    }
}

/// How the person is prompted (MSAL: `MSALPromptType`; OpenID Connect Core, section 3.1.2.1).
public enum PromptType: Sendable, Hashable, CaseIterable {
    /// The provider prompts if its session with the browser does not suffice.
    case promptIfNecessary
    /// The person chooses among the accounts (`select_account`).
    case selectAccount
    /// The person signs in, even if a session exists (`login`).
    case login
    /// The person consents to the scopes, even if they did so before (`consent`).
    case consent
    /// The person creates an account (`create`; Initiating User Registration via OpenID Connect 1.0).
    case create
    /// There is no prompt: the request fails where a page would be shown (`none`).
    case never
}

/// Scopes with a meaning of their own.
public enum Scope {
    /// The scope for everything that the app is registered for at an API (`RESOURCE/.default`, of Microsoft Entra).
    ///
    /// - Parameter resource: the API's identifier, exactly as registered: one that ends in a slash gives two in a row.
    /// - Returns: a scope that must be requested alone.
    public static func defaults(of resource: String) -> String { resource + "/.default" }
}

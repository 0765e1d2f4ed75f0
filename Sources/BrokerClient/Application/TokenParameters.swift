/// What silent and interactive requests have in common (MSAL: `MSALTokenParameters`).
public protocol TokenParameters: Sendable {
    /// What the token shall allow. `openid`, `profile` and `offline_access` are added by the broker and refused here.
    var scopes: [String] { get set }
    /// The account the token is for; nil where the request was made without one.
    var account: Account? { get }
    /// Another authority of the same kind, for this request only, such as a tenant where the person is a guest.
    var authority: String? { get set }
    /// A claims request as JSON (OpenID Connect Core, section 5.5), or the claims of a challenge as they stand in
    /// `WWW-Authenticate` (in base64). A cached access token is not used then.
    var claimsRequest: String? { get set }
    /// The value of the `WWW-Authenticate` header that an API refused a token with, as received. What it asks for is added to the
    /// request: scopes, claims, how the person has to prove who they are.
    var challenge: String? { get set }
    /// Where the token shall be good: absolute URIs (RFC 8707). None leaves it to the scopes.
    var resources: [String] { get set }
    /// How the API takes the token.
    var authenticationScheme: AuthenticationScheme { get set }
    /// Ties the logs of app, broker and provider together. A UUID; a new one is made when it is left out.
    var correlationId: String? { get set }
}

/// How an API takes the access token.
public enum AuthenticationScheme: String, Sendable, Hashable, CaseIterable {
    /// Whoever has it may use it (RFC 6750).
    case bearer = "Bearer"
    /// Bound to a key that stays with the broker (RFC 9449).
    case dpop = "DPoP"
}

/// A request that must not disturb the person (MSAL: `MSALSilentTokenParameters`).
public struct SilentTokenParameters: TokenParameters {
    /// What the token shall allow.
    public var scopes: [String]
    /// Whose token; nil for the one account that fits.
    public let account: Account?
    /// Another authority of the same kind, for this request only.
    public var authority: String?
    /// A claims request or the claims of a challenge, as JSON or in base64.
    public var claimsRequest: String?
    /// The `WWW-Authenticate` header of an API that refused a token, as received.
    public var challenge: String?
    /// Where the token shall be good: absolute URIs (RFC 8707). None leaves it to the scopes.
    public var resources: [String] = []
    /// How the API takes the token.
    public var authenticationScheme = AuthenticationScheme.bearer
    /// Ties the logs together; a UUID, made when it is left out.
    public var correlationId: String?
    /// Get a new access token even if the cached one is good.
    public var forceRefresh = false
    /// An access token that the resource server refused: the answer is another one, or that one again
    /// where it was refreshed less than a minute ago.
    public var rejectedToken: String?
    /// Seconds the token must still be good for. Without it the configuration's buffer counts.
    public var minimumLifetime: Int?
    /// Further parameters of the request that refreshes the token. A cached token is answered whatever they are.
    public var extraQueryParameters: [String: String] = [:]

    /// A silent request for the one account that fits; several fail with ``BrokerClientError/Code/ambiguousAccount``.
    ///
    /// - Parameter scopes: what the token shall allow.
    public init(scopes: [String]) {
        self.scopes = scopes
        account = nil
    }

    /// A silent request for an account.
    ///
    /// There is no form with an optional account: one that was looked up and is gone must not give another person's token.
    ///
    /// - Parameters:
    ///   - scopes: what the token shall allow.
    ///   - account: whose token.
    public init(scopes: [String], account: Account) {
        self.scopes = scopes
        self.account = account
    }
}

/// A request that asks the person to sign in (MSAL: `MSALInteractiveTokenParameters`).
public struct InteractiveTokenParameters: TokenParameters {
    /// What the token shall allow.
    public var scopes: [String]
    /// Who must sign in; nil for anybody.
    public let account: Account?
    /// Another authority of the same kind, for this request only.
    public var authority: String?
    /// A claims request or the claims of a challenge, as JSON or in base64.
    public var claimsRequest: String?
    /// The `WWW-Authenticate` header of an API that refused a token, as received.
    public var challenge: String?
    /// Where the token shall be good: absolute URIs (RFC 8707). None leaves it to the scopes.
    public var resources: [String] = []
    /// How the API takes the token.
    public var authenticationScheme = AuthenticationScheme.bearer
    /// Ties the logs together; a UUID, made when it is left out.
    public var correlationId: String?
    /// How the person is asked.
    public var promptType = PromptType.promptIfNecessary
    /// What the sign-in page is to have filled in as the username; an account's username goes before it.
    public var loginHint: String?
    /// Which organization's sign-in page to go to at once, where the provider knows such a hint.
    public var domainHint: String?
    /// Scopes the person is asked to consent to in the same go, without their being in this token.
    public var extraScopesToConsent: [String] = []
    /// Further parameters of the authorization request.
    public var extraQueryParameters: [String: String] = [:]
    /// Seconds since the person last proved who they are; if it is longer ago, they are asked again.
    public var maxAge: Int?
    /// How they are to prove it, best first: the provider's authentication context class references.
    public var acrValues: [String] = []
    /// Whether somebody else than ``loginHint`` is refused. Who signs in to an ``account`` must always be its owner.
    public var refusesOtherThanLoginHint = false
    /// Whether the request is handed in before the browser opens (RFC 9126), also where the provider does not demand it.
    public var pushesAuthorization = false
    /// Seconds the person has. Without it the broker's own limit counts, 300 by default.
    public var timeout: Int?
    /// How the sign-in page is shown.
    public var webviewParameters: WebviewParameters

    /// An interactive request in which anybody may sign in.
    ///
    /// - Parameters:
    ///   - scopes: what the token shall allow.
    ///   - webviewParameters: how the sign-in page is shown; the person's browser if left out.
    public init(scopes: [String], webviewParameters: WebviewParameters = WebviewParameters()) {
        self.scopes = scopes
        account = nil
        self.webviewParameters = webviewParameters
    }

    /// An interactive request in which one account must sign in.
    ///
    /// - Parameters:
    ///   - scopes: what the token shall allow.
    ///   - account: who must sign in.
    ///   - webviewParameters: how the sign-in page is shown; the person's browser if left out.
    public init(scopes: [String], account: Account, webviewParameters: WebviewParameters = WebviewParameters()) {
        self.scopes = scopes
        self.account = account
        self.webviewParameters = webviewParameters
    }
}

/// How the person is asked (MSAL: `MSALPromptType`; OpenID Connect Core, section 3.1.2.1).
public enum PromptType: Sendable, Hashable, CaseIterable {
    /// The provider decides, by its session with the browser.
    case promptIfNecessary
    /// Choose among the accounts.
    case selectAccount
    /// Sign in, even where a session exists.
    case login
    /// Consent to the scopes, even if that was done before.
    case consent
    /// Make a new account.
    case create
    /// Never ask: fail where a page would be shown.
    case never
}

/// Scopes with a meaning of their own.
public enum Scope {
    /// All that the app is registered for at an API, without naming it (`.default`, of Microsoft Entra).
    ///
    /// - Parameter resource: the API's identifier, exactly as it is registered: one that ends in a slash gives two in a row.
    /// - Returns: a scope, to be asked for alone.
    public static func defaults(of resource: String) -> String { resource + "/.default" }
}

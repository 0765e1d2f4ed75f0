import BrokerRPC
import BrokerValues

/// The extent of a sign-out (MSAL: `MSALSignoutParameters`).
public struct SignoutParameters: Sendable {
    /// Whether the account's tokens are removed from all apps of the group, not only from this one (MSAL: `wipeAccount`).
    public var wipeAccount = false
    /// Whether the refresh tokens are revoked at the provider (RFC 7009).
    public var revokeTokens = false
    /// Whether the browser's session with the provider is ended as well (MSAL: `signoutFromBrowser`; OpenID Connect RP-Initiated
    /// Logout 1.0): the next sign-in in that browser asks for the password.
    public var signoutFromBrowser = false
    /// Further parameters of the provider's page, with ``signoutFromBrowser``.
    public var extraQueryParameters: [String: String] = [:]
    /// The seconds within which the browser has to return, from 1 to 3600; by default 120.
    public var timeout: Int?
    /// Connects the logs of app, broker and provider. A UUID; a new one is made if omitted.
    public var correlationId: String?
    /// How the provider's page is shown, with ``signoutFromBrowser``.
    public var webviewParameters: WebviewParameters

    /// Creates the parameters of a sign-out of this app alone.
    ///
    /// - Parameter webviewParameters: how the provider's page is shown; the person's browser if left out.
    public init(webviewParameters: WebviewParameters = WebviewParameters()) {
        self.webviewParameters = webviewParameters
    }
}

/// The outcome of each part of a sign-out. A failed part does not undo the others.
public struct SignoutResult: Sendable, Hashable {
    /// Whether this app's tokens are removed, and the account is signed out of the app.
    public let local: SignoutStage
    /// Whether the account's tokens are removed from all apps.
    public let wipe: SignoutStage
    /// Whether the refresh tokens are revoked at the provider (RFC 7009).
    public let revocation: SignoutStage
    /// Whether the browser's session has ended, or the person closed the page.
    public let browser: SignoutStage

    init(_ stages: SignOutStages) {
        local = SignoutStage(stages.local)
        wipe = SignoutStage(stages.wipe)
        revocation = SignoutStage(stages.revocation)
        browser = SignoutStage(stages.browser)
    }
}

/// The outcome of one part of a sign-out.
public enum SignoutStage: Sendable, Hashable {
    /// It is done.
    case done
    /// It was not requested.
    case skipped
    /// It failed; the text gives the reason, for the person.
    case failed(String)

    init(_ outcome: SignOutStages.Outcome) {
        switch outcome {
        case .done: self = .done
        case .skipped: self = .skipped
        case .failed(let why): self = .failed(why)
        }
    }
}

/// The accounts of an app that uses one account at a time (MSAL: `getCurrentAccount`).
public struct CurrentAccount: Sendable, Hashable {
    /// The signed-in account; `nil` if there is none.
    public let current: Account?
    /// The account that was current when this app last signed in or asked, if it is another one; the next answer is `nil` again. On
    /// a shared device the app should erase that person's data.
    public let previous: Account?
    /// The account that was last signed out of this app, if it is not ``current``; it stays the same for repeated requests.
    public let lastSignedOut: Account?
}

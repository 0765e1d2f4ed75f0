import BrokerRPC
import BrokerValues

/// Gets tokens for an app (MSAL: `MSALPublicClientApplication`).
///
/// ```swift
/// let application = try PublicClientApplication(configuration: PublicClientApplicationConfig(app: "mail"))
/// let scopes = ["email"]
/// var result: TokenResult
/// do {
///     result = try await application.acquireTokenSilent(with: SilentTokenParameters(scopes: scopes))
/// } catch {
///     guard error.code == .interactionRequired else { throw error }
///     result = try await application.acquireToken(with: InteractiveTokenParameters(scopes: scopes))
/// }
/// request.setValue(result.authorizationHeader, forHTTPHeaderField: "Authorization")
/// ```
///
/// Inside `catch`, `error` is a ``BrokerClientError`` without any cast. Let the last `catch` have no condition, as above:
/// Swift 6.2 to 6.4 crash on `catch … where` alone with a typed error (swiftlang/swift, issue 89577).
///
/// One object serves the whole app and all its tasks. It connects to the broker with the first call, and reconnects after the
/// broker has restarted. All calls fail with ``BrokerClientError``. In addition to the listed codes, any call may fail with
/// ``BrokerClientError/Code/brokerNotAvailable``, ``BrokerClientError/Code/brokerNotTrusted``,
/// ``BrokerClientError/Code/connectionLost``, ``BrokerClientError/Code/accessDenied``,
/// ``BrokerClientError/Code/locked`` and, if its task is cancelled, ``BrokerClientError/Code/canceled``; calls about the app's
/// tokens and accounts also with ``BrokerClientError/Code/appNotFound`` and ``BrokerClientError/Code/grantRequired``.
public final class PublicClientApplication: Sendable {
    /// A copy of the configuration that the application was created with.
    public let configuration: PublicClientApplicationConfig
    let connection: BrokerConnection

    /// Creates an application, without connecting to the broker (MSAL: `init(configuration:)`).
    ///
    /// - Parameter configuration: the app and the broker's socket. It is copied.
    /// - Throws: ``BrokerClientError/Code/invalidParameter`` if the app's name, or its client id or authority, is blank;
    ///   ``BrokerClientError/Code/invalidAuthority`` if the authority is not a URL. The first request shows whether an
    ///   issuer answers there.
    public convenience init(configuration: PublicClientApplicationConfig) throws(BrokerClientError) {
        try self.init(
            configuration: configuration,
            connection: BrokerConnection(location: .resolve(path: configuration.socketPath)))
    }

    package init(
        configuration: PublicClientApplicationConfig, connection: BrokerConnection
    ) throws(BrokerClientError) {
        if let blank = configuration.blankField {
            throw BrokerClientError(.invalidParameter, "The \(blank) is blank; set it in the configuration.")
        }
        if let authority = configuration.unusableAuthority {
            throw BrokerClientError(
                .invalidAuthority,
                "The authority \(authority) is not a URL of the form https://host/path; put the issuer's URL into the configuration."
            )
        }
        self.configuration = configuration
        self.connection = connection
    }

    // MARK: Tokens

    /// Gets a token without disturbing the person (MSAL: `acquireTokenSilent(with:)`): from the broker's cache, or by a refresh
    /// (RFC 6749, section 6).
    ///
    /// Cancelling the task ends the wait. The broker still finishes a refresh in progress, which serves the next caller.
    ///
    /// - Parameter parameters: the scopes, the account and further parameters of the request.
    /// - Returns: a token that is valid for at least the requested lifetime.
    /// - Throws: ``BrokerClientError/Code/interactionRequired`` if only a sign-in can help;
    ///   ``BrokerClientError/Code/ambiguousAccount`` if no account was given and several match;
    ///   ``BrokerClientError/Code/accountNotFound`` if this app has no such account;
    ///   ``BrokerClientError/Code/offline``, ``BrokerClientError/Code/serverUnavailable``,
    ///   ``BrokerClientError/Code/throttled`` and ``BrokerClientError/Code/timedOut`` if the provider must be asked and
    ///   does not answer; ``BrokerClientError/Code/invalidScope``, ``BrokerClientError/Code/invalidClient`` and
    ///   ``BrokerClientError/Code/unauthorizedClient`` if the provider refuses the request.
    public func acquireTokenSilent(
        with parameters: SilentTokenParameters
    ) async throws(BrokerClientError) -> TokenResult {
        TokenResult(try await connection.call(AcquireTokenSilent.self, silentParams(parameters)))
    }

    func silentParams(_ parameters: SilentTokenParameters) -> AcquireTokenSilent.Params {
        var params = AcquireTokenSilent.Params(configuration.app, scopes: parameters.scopes)
        fill(&params, from: parameters)
        params.forceRefresh = parameters.forceRefresh
        params.rejectedToken = parameters.rejectedToken
        params.extraParameters = parameters.extraQueryParameters
        params.minimumLifetime = (parameters.minimumLifetime ?? configuration.tokenExpirationBuffer).map(Int64.init)
        return params
    }

    /// Gets a token with the person's help (MSAL: `acquireToken(with:)`): opens the provider's page in the browser and waits for
    /// the answer. It is the authorization code flow (RFC 6749, section 4.1) with PKCE (RFC 7636) for native apps (RFC 8252).
    ///
    /// Several sign-ins may run at a time, each with a connection of its own; equal ones share one page. Cancelling the
    /// task ends the sign-in, or only leaves it while another one waits for the same page.
    ///
    /// - Parameter parameters: the scopes, the prompt and further parameters of the request.
    /// - Returns: a new token.
    /// - Throws: ``BrokerClientError/Code/userCanceled`` if the person closed the page or denied access;
    ///   ``BrokerClientError/Code/serverDeclinedScopes`` if not everything was granted;
    ///   ``BrokerClientError/Code/mismatchedUser`` if another person signed in than requested;
    ///   ``BrokerClientError/Code/timedOut`` if the person did not finish in time;
    ///   ``BrokerClientError/Code/browserNotAvailable`` if no browser could be opened;
    ///   ``BrokerClientError/Code/throttled`` if too many sign-ins wait already;
    ///   ``BrokerClientError/Code/offline`` and ``BrokerClientError/Code/serverUnavailable`` if the provider is unavailable.
    public func acquireToken(
        with parameters: InteractiveTokenParameters
    ) async throws(BrokerClientError) -> TokenResult {
        var params = AcquireTokenInteractive.Params(configuration.app, scopes: parameters.scopes)
        fill(&params, from: parameters)
        params.prompt = Prompt(parameters.promptType)
        params.loginHint = parameters.account == nil ? parameters.loginHint : nil
        params.domainHint = parameters.domainHint
        params.extraScopesToConsent = parameters.extraScopesToConsent
        params.extraQueryParameters = parameters.extraQueryParameters
        params.maxAge = parameters.maxAge.map(Int64.init)
        params.acrValues = parameters.acrValues
        params.isHintBinding = parameters.refusesOtherThanLoginHint
        params.pushesAuthorization = parameters.pushesAuthorization
        params.redirectURI = configuration.redirectUri
        if let timeout = parameters.timeout { params.timeout = Int64(timeout) }
        let node = try await InteractiveSession.run(
            params, at: connection.location, browser: parameters.webviewParameters.browser)
        return TokenResult(try .decoded(node))
    }

    /// Gets a token for a person who signs in on another device (RFC 8628). No browser is needed on this machine.
    ///
    /// The call returns when the person is done. Cancelling the task ends the sign-in.
    ///
    /// - Parameters:
    ///   - parameters: the scopes and further parameters of the request.
    ///   - onCode: shows the code and the URL to the person, and returns. If it throws, the sign-in is canceled.
    /// - Returns: a new token.
    /// - Throws: ``BrokerClientError/Code/userCanceled`` if the person declined;
    ///   ``BrokerClientError/Code/timedOut`` if the code was not used in time;
    ///   ``BrokerClientError/Code/unsupported`` if the provider offers no such sign-in;
    ///   ``BrokerClientError/Code/serverDeclinedScopes`` if not everything was granted;
    ///   ``BrokerClientError/Code/offline`` and ``BrokerClientError/Code/serverUnavailable`` if the provider is unavailable.
    public func acquireTokenWithDeviceCode(
        with parameters: DeviceCodeParameters, onCode: @escaping @Sendable (DeviceCode) async throws -> Void
    ) async throws(BrokerClientError) -> TokenResult {
        var params = AcquireTokenByDeviceCode.Params(configuration.app, scopes: parameters.scopes)
        if let authority = parameters.authority { params.selection.authority = authority }
        params.claims = parameters.claimsRequest
        params.resources = parameters.resources
        params.clientCapabilities = configuration.clientApplicationCapabilities
        params.tokenType = TokenType(parameters.authenticationScheme)
        params.timeout = parameters.timeout.map(Int64.init)
        params.extraParameters = parameters.extraQueryParameters
        params.correlationId = parameters.correlationId
        let node = try await InteractiveSession.run(params, at: connection.location) {
            try await onCode(DeviceCode($0))
        }
        return TokenResult(try .decoded(node))
    }

    /// Completes a sign-in with a redirect (RFC 6749, section 4.1.2) that did not reach the broker's own listener: one that a URL
    /// handler received, or that the person pasted (MSAL: `handleMSALResponse`). The waiting ``acquireToken(with:)`` then
    /// returns.
    ///
    /// - Parameter url: the whole redirect URL, with its query.
    /// - Throws: ``BrokerClientError/Code/invalidParameter`` if no waiting sign-in matches, or the one that matches cannot
    ///   accept the redirect.
    public func handleResponse(_ url: String) async throws(BrokerClientError) {
        _ = try await connection.call(CompleteInteraction.self, .init(url: url))
    }

    // MARK: Accounts

    /// The accounts that this app may use (MSAL: `allAccounts`).
    ///
    /// - Returns: the signed-in accounts, in a stable order.
    /// - Throws: the errors of any call.
    public func allAccounts() async throws(BrokerClientError) -> [Account] {
        try await connection.call(ListAccounts.self, .init(configuration.app)).accounts.map(Account.init)
    }

    /// The app's accounts that match (MSAL: `accountsFromDevice(for:)`).
    ///
    /// - Parameter parameters: the accounts to list; by default all that are signed in.
    /// - Returns: the matching accounts, in a stable order.
    /// - Throws: the errors of any call.
    public func accounts(
        for parameters: AccountEnumerationParameters
    ) async throws(BrokerClientError) -> [Account] {
        let params = ListAccounts.Params(configuration.app, includingSignedOut: !parameters.returnOnlySignedInAccounts)
        return try await connection.call(ListAccounts.self, params).accounts.map(Account.init).filter(parameters.fit)
    }

    /// The account with this ``Account/identifier`` (MSAL: `account(forIdentifier:)`).
    ///
    /// - Parameter identifier: the identifier of an earlier account.
    /// - Returns: `nil` if this app has no such account.
    /// - Throws: the errors of any call.
    public func account(forIdentifier identifier: String) async throws(BrokerClientError) -> Account? {
        try await account(.id(identifier))
    }

    /// The account with this username, case-insensitive (MSAL: `account(forUsername:)`).
    ///
    /// - Parameter username: the name that the person signs in with.
    /// - Returns: `nil` if this app has no such account.
    /// - Throws: ``BrokerClientError/Code/ambiguousAccount`` if several providers have one of that name.
    public func account(forUsername username: String) async throws(BrokerClientError) -> Account? {
        try await account(.username(username))
    }

    /// The current account of an app that uses one account at a time, and the one that was current before (MSAL:
    /// `getCurrentAccount`).
    ///
    /// - Returns: the current and the previous account, each of which may be `nil`.
    /// - Throws: ``BrokerClientError/Code/ambiguousAccount`` if several accounts are signed in.
    public func currentAccount() async throws(BrokerClientError) -> CurrentAccount {
        let found = try await connection.call(GetCurrentAccount.self, .init(configuration.app))
        return CurrentAccount(
            current: found.current.map(Account.init), previous: found.previous.map(Account.init),
            lastSignedOut: found.lastSignedOut.map(Account.init))
    }

    /// Signs the account out of this app (MSAL: `signout(with:signoutParameters:)`). The next sign-in of the account asks for the
    /// password.
    ///
    /// On request it also revokes the refresh tokens (RFC 7009) and ends the browser's session with the provider (OpenID Connect
    /// RP-Initiated Logout 1.0). Cancelling the task ends a revocation in progress and the wait for the browser; a
    /// completed local sign-out is not undone.
    ///
    /// - Parameters:
    ///   - account: one of ``allAccounts()``.
    ///   - parameters: whether other apps, the provider and the browser are included.
    /// - Returns: the outcome of each part. A part that fails, such as the revocation while the machine is offline, does not
    ///   throw.
    /// - Throws: ``BrokerClientError/Code/accountNotFound`` if this app has no such account.
    public func signOut(
        with account: Account, parameters: SignoutParameters = SignoutParameters()
    ) async throws(BrokerClientError) -> SignoutResult {
        var params = SignOutAccount.Params(.id(account.identifier))
        params.selection = AppSelection(configuration.app)
        params.wipe = parameters.wipeAccount
        params.revoke = parameters.revokeTokens
        params.fromBrowser = parameters.signoutFromBrowser
        params.extraQueryParameters = parameters.extraQueryParameters
        params.correlationId = parameters.correlationId
        if let timeout = parameters.timeout { params.timeout = Int64(timeout) }
        let node = try await InteractiveSession.run(
            params, at: connection.location, browser: parameters.webviewParameters.browser)
        return SignoutResult(try SignOutAccount.Result.decoded(node).stages)
    }

    /// Removes the account's tokens from this app (MSAL: `remove(_:)`). Other apps keep theirs, and the browser stays signed in.
    ///
    /// - Parameter account: one of ``allAccounts()``.
    /// - Throws: ``BrokerClientError/Code/accountNotFound`` if this app has no such account.
    public func remove(_ account: Account) async throws(BrokerClientError) {
        let params = RemoveAccount.Params(.id(account.identifier), from: configuration.app)
        _ = try await connection.call(RemoveAccount.self, params)
    }

    private func account(_ reference: AccountReference) async throws(BrokerClientError) -> Account? {
        try await connection.call(GetAccount.self, .init(reference, of: configuration.app)).account.map(Account.init)
    }

    private func fill(_ params: inout some TokenParams, from parameters: some TokenParameters) {
        params.account = parameters.account.map { .id($0.identifier) }
        if let authority = parameters.authority { params.selection.authority = authority }
        params.claims = parameters.claimsRequest
        params.query.challenge = parameters.challenge.map(ResourceChallenge.init(unread:))
        params.resources = parameters.resources
        params.clientCapabilities = configuration.clientApplicationCapabilities
        params.instanceAware = configuration.multipleCloudsSupported ? true : nil
        params.tokenType = TokenType(parameters.authenticationScheme)
        params.correlationId = parameters.correlationId
    }
}

import BrokerRPC
import BrokerValues

/// An app's way to tokens (MSAL: `MSALPublicClientApplication`).
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
/// Swift 6.2 to 6.4 crash on `catch … where` alone beside a typed error (swiftlang/swift, issue 89577).
///
/// One object serves the whole app and all its tasks. It connects to the broker with the first call, and again by itself
/// after the broker restarted. All calls fail with ``BrokerClientError``; beside the codes each names, any may fail with
/// ``BrokerClientError/Code/brokerNotAvailable``, ``BrokerClientError/Code/brokerNotTrusted``,
/// ``BrokerClientError/Code/connectionLost``, ``BrokerClientError/Code/accessDenied``,
/// ``BrokerClientError/Code/locked`` and, when its task is cancelled, ``BrokerClientError/Code/canceled``.
public final class PublicClientApplication: Sendable {
    /// The configuration, as it was when the application was made.
    public let configuration: PublicClientApplicationConfig
    let connection: BrokerConnection

    /// An application; nothing is connected yet.
    ///
    /// - Parameter configuration: is copied.
    /// - Throws: ``BrokerClientError/Code/invalidParameter`` when the app's name, or client id or authority, is blank;
    ///   ``BrokerClientError/Code/invalidAuthority`` when the authority is no URL. Whether an issuer answers there shows
    ///   with the first request.
    public convenience init(configuration: PublicClientApplicationConfig) throws(BrokerClientError) {
        try self.init(
            configuration: configuration,
            connection: BrokerConnection(location: .resolve(path: configuration.socketPath)))
    }

    package init(
        configuration: PublicClientApplicationConfig, connection: BrokerConnection
    ) throws(BrokerClientError) {
        if let blank = configuration.blankField {
            throw BrokerClientError(.invalidParameter, "The \(blank) is blank; put it into the configuration.")
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

    /// A token without disturbing the person: from the broker's cache, or refreshed.
    ///
    /// Cancelling the task ends the wait; a refresh that is under way is finished by the broker and serves the next
    /// caller.
    ///
    /// - Parameter parameters: scopes, account and the rest.
    /// - Returns: a token that is good for at least the asked-for lifetime.
    /// - Throws: ``BrokerClientError/Code/interactionRequired`` when only the person can help;
    ///   ``BrokerClientError/Code/ambiguousAccount`` when no account was given and several fit;
    ///   ``BrokerClientError/Code/offline`` and ``BrokerClientError/Code/serverUnavailable`` when the provider would
    ///   have to be asked and cannot be.
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

    /// A token with the person's help: opens the provider's page in the browser and waits.
    ///
    /// Several may run at a time. Cancelling the task ends the sign-in.
    ///
    /// - Parameter parameters: scopes, prompt and the rest.
    /// - Returns: a new token.
    /// - Throws: ``BrokerClientError/Code/userCanceled`` when the person closed or denied;
    ///   ``BrokerClientError/Code/serverDeclinedScopes`` when not everything was granted;
    ///   ``BrokerClientError/Code/mismatchedUser`` when somebody else signed in than asked for;
    ///   ``BrokerClientError/Code/timedOut``; ``BrokerClientError/Code/browserNotAvailable``.
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
            params, on: connection, browser: parameters.webviewParameters.browser)
        return TokenResult(try .decoded(node))
    }

    /// A token with the person signing in on another device (RFC 8628): no browser is needed here.
    ///
    /// The call returns when the person is done. Cancelling the task ends the sign-in.
    ///
    /// - Parameters:
    ///   - parameters: scopes and the rest.
    ///   - onCode: shows code and address to the person and returns. If it throws, the sign-in is cancelled.
    /// - Returns: a new token.
    /// - Throws: ``BrokerClientError/Code/userCanceled`` when the person declined;
    ///   ``BrokerClientError/Code/timedOut`` when the code was not used in time;
    ///   ``BrokerClientError/Code/unsupported`` when the provider offers no such sign-in;
    ///   ``BrokerClientError/Code/serverDeclinedScopes`` when not everything was granted.
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
        let node = try await InteractiveSession.run(params, on: connection) { try await onCode(DeviceCode($0)) }
        return TokenResult(try .decoded(node))
    }

    /// Hands in a redirect that the broker's own listener did not see: one that a URL handler received, or that the
    /// person pasted (MSAL: `handleMSALResponse`). The waiting ``acquireToken(with:)`` then returns.
    ///
    /// - Parameter url: the whole redirect URL, with its query.
    /// - Throws: ``BrokerClientError/Code/invalidParameter`` when no waiting sign-in fits.
    public func handleResponse(_ url: String) async throws(BrokerClientError) {
        _ = try await connection.call(CompleteInteraction.self, .init(url: url))
    }

    // MARK: Accounts

    /// The accounts that this app may use (MSAL: `allAccounts`).
    ///
    /// - Returns: signed-in accounts, in an order that stays.
    /// - Throws: what any call may fail with.
    public func allAccounts() async throws(BrokerClientError) -> [Account] {
        try await connection.call(ListAccounts.self, .init(configuration.app)).accounts.map(Account.init)
    }

    /// Those of the app's accounts that fit (MSAL: `accountsFromDevice(for:)`).
    ///
    /// - Parameter parameters: whom to list; all who are signed in if left as they are.
    /// - Returns: accounts in an order that stays.
    /// - Throws: what any call may fail with.
    public func accounts(
        for parameters: AccountEnumerationParameters
    ) async throws(BrokerClientError) -> [Account] {
        var params = ListAccounts.Params(configuration.app)
        params.includeSignedOut = !parameters.returnOnlySignedInAccounts
        return try await connection.call(ListAccounts.self, params).accounts.map(Account.init).filter(parameters.fit)
    }

    /// The account with this ``Account/identifier``.
    ///
    /// - Parameter identifier: as kept from an earlier account.
    /// - Returns: nil when this app has no such account.
    /// - Throws: what any call may fail with.
    public func account(forIdentifier identifier: String) async throws(BrokerClientError) -> Account? {
        try await account(.id(identifier))
    }

    /// The account with this username, in any case of letters.
    ///
    /// - Parameter username: what the person types to sign in.
    /// - Returns: nil when this app has no such account.
    /// - Throws: ``BrokerClientError/Code/ambiguousAccount`` when several providers know one of that name.
    public func account(forUsername username: String) async throws(BrokerClientError) -> Account? {
        try await account(.username(username))
    }

    /// The account of an app that has one at a time, and the one when it last asked (MSAL: `getCurrentAccount`).
    ///
    /// - Returns: each may be nil.
    /// - Throws: ``BrokerClientError/Code/ambiguousAccount`` when several accounts are signed in.
    public func currentAccount() async throws(BrokerClientError) -> CurrentAccount {
        let found = try await connection.call(GetCurrentAccount.self, .init(configuration.app))
        return CurrentAccount(
            current: found.current.map(Account.init), previous: found.previous.map(Account.init),
            lastSignedOut: found.lastSignedOut.map(Account.init))
    }

    /// Signs the account out of this app (MSAL: `signout(with:signoutParameters:)`). Its next sign-in asks for the
    /// password.
    ///
    /// Cancelling the task ends the wait for the browser; what is signed out here by then stays signed out.
    ///
    /// - Parameters:
    ///   - account: one of ``allAccounts()``.
    ///   - parameters: whether other apps, the provider and the browser are to forget it, too.
    /// - Returns: what became of each part.
    /// - Throws: ``BrokerClientError/Code/accountNotFound`` when this app has none such.
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
            params, on: connection, browser: parameters.webviewParameters.browser)
        return SignoutResult(try SignOutAccount.Result.decoded(node).stages)
    }

    /// Removes the account's tokens from this app. Other apps keep theirs, and the browser stays signed in.
    ///
    /// - Parameter account: one of ``allAccounts()``.
    /// - Throws: ``BrokerClientError/Code/accountNotFound`` when this app has none such.
    public func remove(_ account: Account) async throws(BrokerClientError) {
        let params = RemoveAccount.Params(.id(account.identifier), from: configuration.app)
        _ = try await connection.call(RemoveAccount.self, params)
    }

    private func account(_ reference: AccountReference) async throws(BrokerClientError) -> Account? {
        var params = GetAccount.Params(reference)
        params.selection = AppSelection(configuration.app)
        return try await connection.call(GetAccount.self, params).account.map(Account.init)
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

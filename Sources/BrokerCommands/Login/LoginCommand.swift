import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct LoginCommand: WaitingSubcommand {
    static var about: About {
        About(
            "login", "Sign in with a browser, here or on another device.",
            """
            Opens the provider's page with $BROWSER or xdg-open. Over ssh, --device-code lets you sign in on any other \
            device, if the provider offers that; --manual prints the page's address instead, and reads the address \
            that your browser ends up at.

            Examples:
              brokerctl login --app notes
              brokerctl login --app notes --device-code
              brokerctl login --app notes --browser 'firefox --private-window %u'
              brokerctl login --client-id ID --authority https://id.example.org --scope email
            """)
    }

    var global = GlobalOptions()
    var request = RequestOptions()
    var options = TokenOptions()
    var prompt: Prompt?
    var account: AccountName?
    var loginHint: String?
    var strictLoginHint = false
    var domainHint: String?
    var maxAge: Int64?
    var acrValues: [String] = []
    var extraScopes: [String] = []
    var query: [QueryParameter] = []
    var redirectURI: String?
    var pushedAuthorization = false
    var privateWindow = false
    var browser: String?
    var noBrowser = false
    var manual = false
    var deviceCode = false
    var timeout: Int64?

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.group(&request)
        arguments.group(&options)
        arguments.option("prompt", &prompt, "What the provider prompts for: \(Prompt.names).")
        arguments.option(
            "account", &account, "The account that must sign in, as in accounts list: a username or an account's id.",
            completing: LiveCompletion.accounts)
        arguments.option("login-hint", &loginHint, value: "username", "The username to fill in.")
        arguments.flag("strict-login-hint", &strictLoginHint, "Refuse any username other than --login-hint.")
        arguments.option(
            "domain-hint", &domainHint, value: "domain", "Tenant or domain, to skip a page of the provider.")
        arguments.option("max-age", &maxAge, value: "seconds", "Sign in again if the last sign-in is older.")
        arguments.list("acr", &acrValues, value: "class", "Authentication context class, best first; may be repeated.")
        arguments.list(
            "extra-scope", &extraScopes, value: "scope", "A scope to consent to at the same time; may be repeated.")
        arguments.list(
            "query", &query, value: "name=value", "A further parameter for the sign-in page; may be repeated.")
        arguments.option(
            "redirect-uri", &redirectURI, value: "uri",
            "A redirect URI other than the app's, as registered at the provider.")
        arguments.flag(
            "pushed-authorization", &pushedAuthorization, "Push the request before the page opens (RFC 9126).")
        arguments.flag("private", &privateWindow, "Open the page in a private window of your default browser.")
        arguments.option(
            "browser", &browser, value: "command",
            "Open the page with this command; %u is its address, which is otherwise appended. No shell is involved.")
        arguments.flag("no-browser", &noBrowser, "Print the page's address instead of opening it.")
        arguments.flag("manual", &manual, "Like --no-browser; then read the address you end up at from standard input.")
        arguments.flag(
            "device-code", &deviceCode, "Show a code to enter on another device, instead of opening a browser here.")
        arguments.option(
            "timeout", &timeout, value: "seconds",
            "How long to wait for you (1 to 3600; 300 if left out, with --device-code until the code expires).")
    }

    func validate() throws(UsageError) {
        if let timeout, !(1...3600).contains(timeout) {
            throw UsageError("--timeout takes 1 to 3600 seconds.")
        }
        guard account == nil || loginHint == nil else {
            throw UsageError("Give --account or --login-hint, not both.")
        }
        if strictLoginHint, loginHint == nil { throw UsageError("--strict-login-hint needs --login-hint.") }
        if let maxAge, maxAge < 0 { throw UsageError("--max-age takes seconds, 0 or more.") }
        guard [browser != nil, privateWindow, noBrowser || manual].count(where: { $0 }) < 2 else {
            throw UsageError("Give one of --browser, --private and --no-browser.")
        }
        if browser != nil, browserCommand == nil {
            throw UsageError("--browser is not a command: it is empty, or a quote is not closed.")
        }
        try query.requireEachOnce()
        let isForBrowsers =
            noBrowser || manual || browser != nil || privateWindow || account != nil || redirectURI != nil
            || prompt != nil || loginHint != nil || domainHint != nil || maxAge != nil
            || !acrValues.isEmpty || !extraScopes.isEmpty || pushedAuthorization
            || options.instanceAware || options.challenge != nil
        if deviceCode, isForBrowsers {
            throw UsageError(
                "--device-code goes with --authority, --scope, --claims, --capability, --resource, --query, "
                    + "--token-type, --correlation-id and --timeout; the other options are for a browser.")
        }
    }

    func run(at location: SocketLocation, _ output: Output) async throws(BrokerClientError) {
        var params = AcquireTokenInteractive.Params()
        let asking = DirectConnection(location: location)
        request.fill(&params)
        params.account = try account.map { account throws(BrokerClientError) in
            .id(try account.find(among: request.reference, on: asking).account.id)
        }
        params.prompt = prompt
        try options.fill(&params)
        params.loginHint = loginHint
        params.isHintBinding = strictLoginHint
        params.domainHint = domainHint
        params.maxAge = maxAge
        params.acrValues = acrValues
        params.extraScopesToConsent = extraScopes
        params.extraQueryParameters = query.byName
        params.pushesAuthorization = pushedAuthorization
        params.redirectURI = redirectURI
        if let timeout { params.timeout = timeout }
        let node =
            deviceCode
            ? try await signInElsewhere(params, at: location, output)
            : try await signIn(params, at: location, output)
        let token = try Token.decoded(node)
        output.result(node) { LoginText.done(token, now: Output.now) }
    }

    /// `nil` for an empty text, and for an open quote.
    private var browserCommand: BrowserCommand? {
        browser.flatMap { BrowserCommand.words(of: $0) }.flatMap(BrowserCommand.init)
    }

    private var window: WebviewParameters {
        if let browserCommand { return WebviewParameters(browser: SystemBrowser(browserCommand)) }
        return WebviewParameters(privateWindow ? .privateWindow : .systemBrowser)
    }

    private func signIn(
        _ params: AcquireTokenInteractive.Params, at location: SocketLocation, _ output: Output
    ) async throws(BrokerClientError) -> JSONNode {
        let page: any BrowserOpening =
            if manual {
                PastedRedirect(connection: BrokerConnection(location: location), output: output)
            } else if noBrowser {
                PrintedPage(output: output)
            } else {
                AnnouncedBrowser(
                    output: output, web: window, command: global.words + ["login"] + request.words)
            }
        return try await interruptible { () throws(BrokerClientError) in
            try await InteractiveSession.run(params, at: location, browser: page) {
                output.aside("The page for this sign-in is already open elsewhere; waiting until you are done there.")
            }
        }
    }

    private func signInElsewhere(
        _ asked: AcquireTokenInteractive.Params, at location: SocketLocation, _ output: Output
    ) async throws(BrokerClientError) -> JSONNode {
        var params = AcquireTokenByDeviceCode.Params()
        params.selection = asked.selection
        params.query = asked.query
        params.query.extraParameters = asked.extraQueryParameters
        params.correlationId = asked.correlationId
        params.timeout = timeout
        let final = params
        return try await interruptible { () throws(BrokerClientError) in
            try await DeviceCodeLogin(output: output).run(final, at: location)
        }
    }

    private func interruptible(
        _ body: @escaping @Sendable () async throws(BrokerClientError) -> JSONNode
    ) async throws(BrokerClientError) -> JSONNode {
        let signIn = Task { () async -> Result<JSONNode, BrokerClientError> in
            do throws(BrokerClientError) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        Interrupt.onInterrupt { signIn.cancel() }
        switch await signIn.value {
        case .success(let node): return node
        case .failure(let error) where error.code == .canceled:
            throw BrokerClientError(.userCanceled, "The sign-in was canceled; nothing has changed.", cause: error)
        case .failure(let error): throw error
        }
    }
}

/// `name=value`.
struct QueryParameter: ArgumentValue, Sendable {
    let name: String
    let value: String

    init?(argument: String) {
        guard let equals = argument.firstIndex(of: "="), equals > argument.startIndex else { return nil }
        name = String(argument[..<equals])
        value = String(argument[argument.index(after: equals)...])
    }
}

extension [QueryParameter] {
    var byName: [String: String] { Dictionary(map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }) }

    func requireEachOnce() throws(UsageError) {
        guard byName.count == count else { throw UsageError("--query takes each name once.") }
    }
}

extension Prompt: ArgumentValue {
    package static let meanings = [
        "login": "ask for the password", "select_account": "let the person choose an account",
        "consent": "ask for consent", "create": "offer a new account", "none": "ask nothing",
    ]

    fileprivate static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

package enum LoginText {
    package static func done(_ token: Token, now: NumericDate) -> String {
        let end =
            token.expiresOn == TokenEnd.unknown
            ? "The provider does not say when the access token expires."
            : "The access token expires \(TimeText.relative(token.expiresOn, to: now))."
        let last =
            token.renewable
            ? "" : "The provider gave no refresh token: when the access token expires, you have to sign in again.\n"
        let kept = token.persisted ? "" : "The broker could not write it to disk yet, and keeps trying.\n"
        return "Signed in: \(AccountText.who(token.account)).\n\(end)\n" + last + kept
    }
}

import ArgumentParser
import BrokerClient
import BrokerRPC
import BrokerValues

struct TokenCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Print an access token, without asking anybody.",
        discussion: """
            Prints the token and nothing else, unless --format says otherwise:
              raw      the token
              json     everything about it
              header   an HTTP header, for: curl -H "$(brokerctl token --app A --format header)" URL
              env      shell variables, for: eval "$(brokerctl token --app A --format env)"
              xoauth2  what IMAP and SMTP servers take (SASL XOAUTH2, base64)

            Examples:
              brokerctl token --app notes
              brokerctl token --app notes --account ada@example.org --min-lifetime 600
              brokerctl token --app notes --format json
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var request: RequestOptions
    @OptionGroup var options: TokenOptions

    @Option(
        help: ArgumentHelp("Whose token: a username or an account's id.", valueName: "account"),
        completion: LiveCompletion.accounts)
    var account: AccountName?

    @Option(help: ArgumentHelp("How to print it: raw, json, header, env or xoauth2.", valueName: "format"))
    var format: TokenFormat?

    @Option(
        name: .customLong("min-lifetime"),
        help: ArgumentHelp("How long the token must still be good (0 to 86400).", valueName: "seconds"))
    var minimumLifetime: Int64?

    @Flag(help: "Get a new token even if the one at hand is good.")
    var forceRefresh = false

    func validate() throws {
        if let minimumLifetime, !(0...86_400).contains(minimumLifetime) {
            throw ValidationError("--min-lifetime takes 0 to 86400 seconds.")
        }
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        var params = AcquireTokenSilent.Params()
        try request.fill(&params, on: context.connection)
        try options.fill(&params)
        params.minimumLifetime = minimumLifetime
        params.forceRefresh = forceRefresh
        let node = try acquire(params, context)
        let format = format ?? (context.output.json ? .json : .raw)
        if format == .json {
            StandardStream.output.write(JSONText.line(node, readable: StandardStream.output.isTerminal))
        } else {
            StandardStream.output.write(try format.text(try Token.decoded(node)))
        }
    }

    private func acquire(
        _ params: AcquireTokenSilent.Params, _ context: CommandContext
    ) throws(BrokerClientError) -> JSONNode {
        do throws(BrokerClientError) {
            guard let account else { return try context.connection.result(of: AcquireTokenSilent.self, params) }
            return try account.resolve { reference throws(BrokerClientError) in
                var params = params
                params.account = reference
                return try context.connection.result(of: AcquireTokenSilent.self, params)
            }
        } catch {
            var error = error
            switch error.code {
            case .interactionRequired: error.message += " To sign in: \(signIn(after: error))"
            case .ambiguousAccount where account == nil: error.message += " Name it with --account."
            default: break
            }
            throw error
        }
    }

    /// The command that makes this one work.
    private func signIn(after error: BrokerClientError) -> String {
        var words = global.words + ["login"] + request.words
        if let account = error.account, self.account != nil { words += ["--account", account.identifier] }
        for resource in options.resources { words += ["--resource", resource] }
        if options.tokenType != .bearer { words += ["--token-type", options.tokenType.rawValue] }
        if let claims = error.claimsChallenge ?? options.claims { words += ["--claims", claims] }
        return ShellText.command(words)
    }
}

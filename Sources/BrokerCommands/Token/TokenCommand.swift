import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct TokenCommand: Subcommand {
    static var about: About {
        About(
            "token", "Print an access token without prompting.",
            """
            Prints the token and nothing else, unless --format says otherwise:
              raw      the token
              json     everything about it
              header   an HTTP header, for: brokerctl token --app A --format header | curl -H @- URL
              env      shell variables, for: eval "$(brokerctl token --app A --format env)"
              xoauth2  what IMAP and SMTP servers take (SASL XOAUTH2, base64)

            Examples:
              brokerctl token --app notes
              brokerctl token --app notes --account ada@example.org --min-lifetime 600
              brokerctl token --app notes --format json
              brokerctl token --app mail --format xoauth2 --user team@example.org
              brokerctl token --app notes --show
            """)
    }

    var global = GlobalOptions()
    var request = RequestOptions()
    var options = TokenOptions()
    var account: AccountName?
    var format: TokenFormat?
    var user: String?
    var show = false
    var minimumLifetime: Int64?
    var forceRefresh = false
    var query: [QueryParameter] = []

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.group(&request)
        arguments.group(&options)
        arguments.option(
            "account", &account, "The token's account: a username or an id.", completing: LiveCompletion.accounts)
        arguments.option("format", &format, "How to print it: raw, json, header, env or xoauth2.")
        arguments.option(
            "user", &user, value: "mailbox", "With --format xoauth2: the mailbox.",
            "Otherwise the one that the app was added with (--mailbox), or the username.")
        arguments.flag("show", &show, "Show the token's account, scopes and expiry, but not the token.")
        arguments.option(
            "min-lifetime", &minimumLifetime, value: "seconds", "How long the token must remain valid (0 to 86400).")
        arguments.flag("force-refresh", &forceRefresh, "Get a new token even if the cached one is valid.")
        arguments.list(
            "query", &query, value: "name=value", "A further parameter for a refresh; may be repeated.")
    }

    func validate() throws(UsageError) {
        guard !show || format == nil else { throw UsageError("Give --show or --format, not both.") }
        guard user == nil || format == .xoauth2 else { throw UsageError("--user goes with --format xoauth2.") }
        if let minimumLifetime, !(0...86_400).contains(minimumLifetime) {
            throw UsageError("--min-lifetime takes 0 to 86400 seconds.")
        }
        try query.requireEachOnce()
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        var asking = SilentTokenRequest(account: account, login: global.words + ["login"] + request.words)
        request.fill(&asking.params)
        try options.fill(&asking.params)
        asking.params.query.minimumLifetime = minimumLifetime
        asking.params.forceRefresh = forceRefresh
        asking.params.query.extraParameters = query.byName
        for parameter in query { asking.demands += ["--query", "\(parameter.name)=\(parameter.value)"] }
        for resource in options.resources { asking.demands += ["--resource", resource] }
        if options.tokenType != .bearer { asking.demands += ["--token-type", options.tokenType.rawValue] }
        asking.claims = options.claims
        asking.challenge = options.challenge
        let node = try asking.send(on: context.connection)
        guard !show else { return try describe(node, context.output) }
        // Only the token, or JSON if all output is.
        let format = format ?? (context.output.json ? .json : .raw)
        let user = format == .xoauth2 ? user ?? registeredMailbox(in: context) : nil
        StandardStream.output.write(try format.text(node, readable: StandardStream.output.isTerminal, user: user))
    }

    /// Callers that may not see the registrations need --user.
    private func registeredMailbox(in context: CommandContext) -> String? {
        guard let name = request.app else { return nil }
        return try? App.registered(as: name, in: context).app.description.mailbox
    }

    private func describe(_ node: JSONNode, _ output: Output) throws(BrokerClientError) {
        let token = try Token.decoded(node)
        output.result(TokenText.withoutSecrets(node)) {
            TokenText.facts(token, now: Output.now).text(in: output.layout)
        }
    }
}

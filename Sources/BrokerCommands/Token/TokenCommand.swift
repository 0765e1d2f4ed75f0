import ArgumentParser
import BrokerClient
import BrokerRPC

struct TokenCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Print an access token, without asking anybody.",
        discussion: """
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
              brokerctl token --app notes --show
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

    @Flag(help: "Show whose token it is, its scopes and its expiry, and not the token.")
    var show = false

    @Option(
        name: .customLong("min-lifetime"),
        help: ArgumentHelp("How long the token must still be good (0 to 86400).", valueName: "seconds"))
    var minimumLifetime: Int64?

    @Flag(help: "Get a new token even if the one at hand is good.")
    var forceRefresh = false

    func validate() throws {
        guard !show || format == nil else { throw ValidationError("Give --show or --format, not both.") }
        if let minimumLifetime, !(0...86_400).contains(minimumLifetime) {
            throw ValidationError("--min-lifetime takes 0 to 86400 seconds.")
        }
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        let requested = request.requested
        var asking = SilentAsking(account: account, login: global.words + ["login"] + requested.words)
        try requested.fill(&asking.params, on: context.connection)
        try options.fill(&asking.params)
        asking.params.minimumLifetime = minimumLifetime
        asking.params.forceRefresh = forceRefresh
        for resource in options.resources { asking.demands += ["--resource", resource] }
        if options.tokenType != .bearer { asking.demands += ["--token-type", options.tokenType.rawValue] }
        asking.claims = options.claims
        try TokenPrinting(format: format, show: show).print(asking, in: context)
    }
}

import ArgumentParser
import BrokerClient
import BrokerRPC

struct AddAppCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Make an app known to the broker, or replace the one of that name.",
        discussion: """
            Apps of one group share accounts: sign in to one, and the others have tokens, too. Without --executable, \
            --unit and --sandbox any program of yours may act as the app.
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "What requests will call it.")
    var name: String

    @Option(name: .long, help: ArgumentHelp("Its client id at the provider.", valueName: "id"))
    var clientID: String

    @Option(help: ArgumentHelp("The issuer's URL.", valueName: "url"))
    var authority: String

    @Option(help: ArgumentHelp("The group it shares accounts with.", valueName: "name"))
    var group: String?

    @Option(
        name: .customLong("scope"), parsing: .upToNextOption,
        help: ArgumentHelp("What it usually asks for; may be repeated.", valueName: "scope"))
    var scopes: [String] = []

    @Option(
        name: .customLong("redirect-uri"),
        help: ArgumentHelp("As registered at the provider; loopback at any port if left out.", valueName: "uri"))
    var redirectURI: String?

    @Option(
        name: .customLong("executable"),
        help: ArgumentHelp("A program that may act as it; may be repeated.", valueName: "path"))
    var executables: [String] = []

    @Option(
        name: .customLong("unit"),
        help: ArgumentHelp("A systemd unit that may act as it; may be repeated.", valueName: "unit"))
    var units: [String] = []

    @Option(
        name: .customLong("sandbox"),
        help: ArgumentHelp("A Flatpak or snap application that may act as it; may be repeated.", valueName: "id"))
    var sandboxIDs: [String] = []

    @Flag(help: "Read a client secret from standard input: for confidential clients.")
    var clientSecretStdin = false

    @Flag(
        help: ArgumentHelp(
            "Make the desktop hand this app's redirects to the broker; needs --redirect-uri.",
            discussion: "For a redirect URI with a scheme of the app's own, such as msauth.org.example.mail://auth."))
    var urlHandler = false

    func validate() throws {
        guard urlHandler else { return }
        guard let redirectURI else { throw ValidationError("--url-handler needs --redirect-uri.") }
        guard URLHandler(app: name, redirectURI: redirectURI) != nil else {
            throw ValidationError(
                "--url-handler takes a redirect URI whose scheme is the app's own and has a dot in it, such as msauth.org.example.mail://auth."
            )
        }
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        var params = RegisterApp.Params(name: name, clientId: clientID, authority: authority)
        params.group = group
        params.scopes = scopes.flatMap { $0.split(separator: " ").map(String.init) }
        params.redirectUri = redirectURI
        params.executables = executables
        params.units = units
        params.sandboxIds = sandboxIDs
        if clientSecretStdin { params.clientSecret = try Self.readSecret() }
        let node = try context.connection.result(of: RegisterApp.self, params)
        let app = try RegisterApp.Result.understood(node).app
        if urlHandler, let handler = redirectURI.flatMap({ URLHandler(app: name, redirectURI: $0) }) {
            try URLHandlerFiles().install(handler, socket: global.socket)
        }
        context.output.result(node) { AppWords.facts(app).text(emphasis: context.output.style.strong) }
    }

    /// Never an argument: every process of the machine can read those.
    private static func readSecret() throws(BrokerClientError) -> String {
        guard let secret = readLine(), !secret.isEmpty else {
            throw BrokerClientError(
                .invalidParameter, "Standard input ended before a client secret; pipe it in, as one line.")
        }
        return secret
    }
}

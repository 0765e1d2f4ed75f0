import ArgumentParser
import BrokerClient
import BrokerRPC

/// A command that another program runs. Standard output carries that program's protocol and nothing else: most callers use
/// what they find there whatever the exit status is, and would send an error to a server as the token. It asks no person.
protocol Front: Subcommand {}

/// Whose token another program gets. A registration of its own for each use keeps what the program can do small.
struct FrontOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The registered app whose tokens are given.", valueName: "name"),
        completion: LiveCompletion.apps)
    var app: String?

    @Option(
        name: .customLong("scope"),
        help: ArgumentHelp(
            "What the token must be good for; may be repeated.",
            discussion: "Without it, the scopes that the app is registered with.", valueName: "scope"))
    var scopes: [String] = []

    @Option(
        help: ArgumentHelp("Whose token: a username or an account's id.", valueName: "account"),
        completion: LiveCompletion.accounts)
    var account: AccountName?

    /// - Parameter global: how the broker was named, for the command that signs in.
    func asking(
        as app: String, _ global: GlobalOptions, on connection: DirectConnection
    ) throws(BrokerClientError) -> SilentAsking {
        var login = global.words + ["login", "--app", app]
        for scope in scopes { login += ["--scope", scope] }
        var asking = SilentAsking(account: account, login: login)
        asking.params.selection.app = app
        try asking.params.ask(for: scopes, orThoseOf: app, on: connection)
        return asking
    }
}

import BrokerCommandLine
import BrokerRPC

/// A command that another program runs. Standard output carries only that program's protocol: most callers ignore the exit
/// status, use any output, and would send an error to a server as the token. It never prompts.
protocol FrontCommand: Subcommand {}

extension FrontCommand {
    static var printsJSON: Bool { false }
}

/// The app and account whose token another program gets. A separate registration per use limits the program's rights.
struct FrontOptions: ArgumentGroup {
    var app: String?
    var scopes: [String] = []
    var account: AccountName?

    mutating func declare(in arguments: inout Arguments) {
        arguments.option(
            "app", &app, value: "name", "The registered app whose tokens to use.", completing: LiveCompletion.apps)
        arguments.list(
            "scope", &scopes, "A scope of the token; may be repeated.",
            "Without it, the scopes that the app is registered with.")
        arguments.option(
            "account", &account, "The token's account: a username or an id.", completing: LiveCompletion.accounts)
    }

    /// - Parameter global: the options that name the broker, for the sign-in command.
    func asking(as app: String, _ global: GlobalOptions) -> SilentTokenRequest {
        var login = global.words + ["login", "--app", app]
        for scope in scopes { login += ["--scope", scope] }
        var asking = SilentTokenRequest(account: account, login: login)
        asking.params.selection.app = app
        asking.params.ask(for: scopes)
        return asking
    }
}

import BrokerCommandLine
import BrokerLink
import BrokerRPC

struct RemoveAccountCommand: Subcommand {
    static var about: About {
        About(
            "remove", "Remove an account from one app.",
            """
            Other apps keep theirs, and the browser stays signed in.

            Examples:
              brokerctl accounts remove ada@example.org --app notes
            """)
    }

    var global = GlobalOptions()
    var account = AccountName(argument: "")
    var choice = AppOptions()

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("account", &account, "A username or an account's id.", completing: LiveCompletion.accounts)
        arguments.group(&choice)
    }

    func validate() throws(UsageError) {
        guard choice.reference != nil else {
            throw UsageError("Name the app: --app, or --client-id and --authority.")
        }
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        guard let chosen = choice.reference else { return }
        let name = account.username(among: chosen, on: context.connection)
        let node = try account.resolve { reference throws(BrokerClientError) in
            try context.connection.result(of: RemoveAccount.self, .init(reference, from: chosen))
        }
        let removed = try RemoveAccount.Result.decoded(node).removed
        let app = choice.app ?? choice.clientID ?? ""
        context.output.result(node) {
            "Removed \(removed) token\(removed == 1 ? "" : "s") of \(name) from \(app).".clean + "\n"
        }
    }
}

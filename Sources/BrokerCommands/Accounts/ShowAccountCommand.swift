import BrokerCommandLine
import BrokerLink
import BrokerRPC

struct ShowAccountCommand: Subcommand {
    static var about: About {
        About(
            "show", "Show what is known about one account.",
            """
            With --app, or --client-id and --authority, only accounts that this app may use are searched.

            Examples:
              brokerctl accounts show ada@example.org
            """)
    }

    var global = GlobalOptions()
    var account = AccountName(argument: "")
    var choice = AppOptions()

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("account", &account, "A username or an account's id.", completing: LiveCompletion.accounts)
        arguments.group(&choice)
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        let (node, account) = try account.find(among: choice.reference, on: context.connection)
        context.output.result(node) { AccountText.facts(account).text(in: context.output.layout) }
    }
}

import BrokerCommandLine
import BrokerLink
import BrokerRPC

struct ListAccountsCommand: Subcommand {
    static var about: About {
        About(
            "list", "List the accounts that are signed in.",
            """
            With --app, or --client-id and --authority, only those that this app may use.

            Examples:
              brokerctl accounts list
              brokerctl accounts list --app notes --all
            """)
    }

    var global = GlobalOptions()
    var choice = AppOptions()
    var all = false
    var names = false

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.group(&choice)
        arguments.flag("all", &all, "List signed-out accounts, too.")
        arguments.flag(
            "names", &names,
            "Print only usernames, for completion; usernames that a shell would have to quote are left out.")
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(ListAccounts.self, .init(choice.reference, includingSignedOut: all)) { answer in
            let accounts = answer.accounts
            if names { return LiveCompletion.lines(accounts.map(\.username)) }
            return accounts.isEmpty
                ? "Nobody is signed in. To sign in: brokerctl login --app NAME\n"
                : AccountText.table(accounts).text(in: context.output.layout)
        }
    }
}

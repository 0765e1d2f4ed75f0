import ArgumentParser
import BrokerClient
import BrokerRPC

struct ListAccountsCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the accounts that are signed in.",
        discussion: """
            With --app, or --client-id and --authority, only those that this app may use.

            Examples:
              brokerctl accounts list
              brokerctl accounts list --app notes --all
            """)

    @OptionGroup var global: GlobalOptions

    @OptionGroup var choice: AppOptions

    @Flag(help: "List those that signed out, too.")
    var all = false

    @Flag(help: "Print usernames alone, for completions; those that a shell would not take as they are, are left out.")
    var names = false

    func run(in context: CommandContext) throws(BrokerClientError) {
        var params = ListAccounts.Params()
        params.selection = AppSelection(choice.reference)
        params.includeSignedOut = all
        try context.tell(ListAccounts.self, params) { answer in
            let accounts = answer.accounts
            if names { return LiveCompletion.lines(accounts.map(\.username)) }
            return accounts.isEmpty
                ? "Nobody is signed in. To sign in: brokerctl login --app NAME\n"
                : AccountText.table(accounts).text(in: context.output.layout)
        }
    }
}

import ArgumentParser
import BrokerClient
import BrokerRPC

struct ListAccountsCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the accounts that are signed in.",
        discussion: "With --app, or --client-id and --authority, only those that this app may use.")

    @OptionGroup var global: GlobalOptions

    @OptionGroup var choice: AppOptions

    @Flag(help: "List those that signed out, too.")
    var all = false

    func run(in context: CommandContext) throws(BrokerClientError) {
        var params = ListAccounts.Params()
        params.selection = AppSelection(choice.reference)
        params.includeSignedOut = all
        let node = try context.connection.result(of: ListAccounts.self, params)
        let accounts = try ListAccounts.Result.decoded(node).accounts
        context.output.result(node) {
            accounts.isEmpty
                ? "Nobody is signed in. To sign in: brokerctl login --app NAME\n"
                : AccountText.table(accounts).text(emphasis: context.output.style.strong)
        }
    }
}

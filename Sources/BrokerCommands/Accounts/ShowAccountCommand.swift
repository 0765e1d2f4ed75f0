import ArgumentParser
import BrokerClient
import BrokerRPC

struct ShowAccountCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what is known of one account.",
        discussion: """
            With --app, or --client-id and --authority, it is looked for among what this app may use.

            Examples:
              brokerctl accounts show ada@example.org
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(
        help: ArgumentHelp("A username or an account's id.", valueName: "account"), completion: LiveCompletion.accounts)
    var account: AccountName

    @OptionGroup var choice: AppOptions

    func run(in context: CommandContext) throws(BrokerClientError) {
        let (node, account) = try account.find(among: choice.reference, on: context.connection)
        context.output.result(node) { AccountText.facts(account).text(in: context.output.layout) }
    }
}

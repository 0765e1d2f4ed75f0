import ArgumentParser
import BrokerClient
import BrokerRPC

struct ShowAccountCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what is known of one account.")

    @OptionGroup var global: GlobalOptions

    @Argument(help: ArgumentHelp("A username or an account's id.", valueName: "account"))
    var account: AccountName

    @Option(help: ArgumentHelp("Look among what this app may use.", valueName: "name"))
    var app: String?

    func run(in context: CommandContext) throws(BrokerClientError) {
        for reference in account.references {
            var params = GetAccount.Params(reference)
            params.app = app
            let node = try context.connection.result(of: GetAccount.self, params)
            guard let found = try GetAccount.Result.understood(node).account else { continue }
            return context.output.result(node) {
                AccountWords.facts(found).text(emphasis: context.output.style.strong)
            }
        }
        throw BrokerClientError(
            .accountNotFound, "There is no account \(account.text); brokerctl accounts list shows those there are.")
    }
}

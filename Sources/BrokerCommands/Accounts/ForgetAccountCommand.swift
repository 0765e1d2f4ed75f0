import ArgumentParser
import BrokerClient
import BrokerRPC
import BrokerValues

struct ForgetAccountCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Erase an account everywhere.",
        discussion: """
            All apps of all groups lose it, and the broker remembers nothing of it. The browser stays signed in: \
            `brokerctl accounts sign-out --browser` ends that, and comes first.

            Examples:
              brokerctl accounts forget ada@example.org
              brokerctl accounts forget ada@example.org --revoke
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(
        help: ArgumentHelp("A username or an account's id.", valueName: "account"), completion: LiveCompletion.accounts)
    var account: AccountName

    @Flag(help: "Revoke the refresh tokens at the provider, too.")
    var revoke = false

    func run(in context: CommandContext) throws(BrokerClientError) {
        let node = try account.resolve { reference throws(BrokerClientError) in
            var params = ForgetAccount.Params(reference)
            params.revoke = revoke
            return try context.connection.result(of: ForgetAccount.self, params)
        }
        let report = try ErasureReport.decoded(node)
        context.output.result(node) {
            ErasureText.text(report, of: "\(account.text) with \(report.tokens) token\(report.tokens == 1 ? "" : "s")")
        }
    }
}

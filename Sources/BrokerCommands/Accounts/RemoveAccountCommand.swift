import ArgumentParser
import BrokerClient
import BrokerRPC

struct RemoveAccountCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Take an account's tokens from one app.",
        discussion: "Other apps keep theirs, and the browser stays signed in.")

    @OptionGroup var global: GlobalOptions

    @Argument(help: ArgumentHelp("A username or an account's id.", valueName: "account"))
    var account: AccountName

    @Option(help: ArgumentHelp("The app that loses them.", valueName: "name"))
    var app: String

    func run(in context: CommandContext) throws(BrokerClientError) {
        let app = app
        let node = try account.resolve { reference throws(BrokerClientError) in
            try context.connection.result(of: RemoveAccount.self, .init(reference, from: .registered(app)))
        }
        let removed = try RemoveAccount.Result.understood(node).removed
        context.output.result(node) {
            "Removed \(removed) token\(removed == 1 ? "" : "s") of \(account.text) from \(app).\n".clean(keeping: "\n")
        }
    }
}

import ArgumentParser
import BrokerClient
import BrokerRPC

struct RemoveAccountCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Take an account's tokens from one app.",
        discussion: """
            Other apps keep theirs, and the browser stays signed in.

            Examples:
              brokerctl accounts remove ada@example.org --app notes
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(
        help: ArgumentHelp("A username or an account's id.", valueName: "account"), completion: LiveCompletion.accounts)
    var account: AccountName

    @OptionGroup var choice: AppOptions

    func validate() throws {
        guard choice.reference != nil else {
            throw ValidationError("Say which app loses them: --app, or --client-id and --authority.")
        }
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        guard let chosen = choice.reference else { return }
        let node = try account.resolve { reference throws(BrokerClientError) in
            try context.connection.result(of: RemoveAccount.self, .init(reference, from: chosen))
        }
        let removed = try RemoveAccount.Result.decoded(node).removed
        let app = choice.app ?? choice.clientID ?? ""
        context.output.result(node) {
            "Removed \(removed) token\(removed == 1 ? "" : "s") of \(account.text) from \(app).\n".clean(keeping: "\n")
        }
    }
}

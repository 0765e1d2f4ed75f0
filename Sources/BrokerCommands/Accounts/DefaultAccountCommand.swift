import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct DefaultAccountCommand: Subcommand {
    static var about: About {
        About(
            "default", "Choose whose tokens an app gets when several people are signed in.",
            """
            token, git-credential, kube-credential and token-file use this account if several match. Without an \
            account, the command shows the choice. The broker stores it with the account, and backups include it.

            Examples:
              brokerctl accounts default ada@example.org --app notes
              brokerctl accounts default --app notes
              brokerctl accounts default --clear --app notes
            """)
    }

    var global = GlobalOptions()
    var account: AccountName?
    var app = ""
    var clear = false

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("account", &account, "A username or an account's id.", completing: LiveCompletion.accounts)
        arguments.option(
            "app", &app, value: "name", isRequired: true, "A registered app.", completing: LiveCompletion.apps)
        arguments.flag("clear", &clear, "Clear the choice.")
    }

    func validate() throws(UsageError) {
        guard account == nil || !clear else { throw UsageError("Give an account or --clear, not both.") }
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        guard account != nil || clear else { return try show(context) }
        let chosen = try account.map { account throws(BrokerClientError) in
            try account.find(among: .registered(app), on: context.connection).account.id
        }
        let node = try context.answer(
            to: SetDefaultAccount.self, .init(app: app, account: chosen.map(AccountReference.id)))
        tell(try GetAccount.Result.decoded(node).account, context.output)
    }

    private func show(_ context: CommandContext) throws(BrokerClientError) {
        let listed = try context.connection.call(ListAccounts.self, .init(.registered(app), includingSignedOut: true))
        tell(listed.accounts.first { $0.id == listed.defaultAccount }, context.output)
    }

    private func tell(_ account: Account?, _ output: Output) {
        let result: JSONValue = ["app": .string(app), "account": account.map { .string($0.id) } ?? .null]
        output.result(JSONText.node(of: result)) {
            guard let account else { return "\(app) has no default account.".clean + "\n" }
            return "The default account of \(app) is \(AccountText.who(account)).".clean + "\n"
        }
    }
}

import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct ForgetAccountCommand: Subcommand {
    static var about: About {
        About(
            "forget", "Erase an account everywhere.",
            """
            All apps of all groups lose it, and the broker keeps nothing about it. The browser stays signed in; to end \
            that as well, first run `brokerctl accounts sign-out --browser`.

            Examples:
              brokerctl accounts forget ada@example.org
              brokerctl accounts forget ada@example.org --revoke --yes
            """)
    }

    var global = GlobalOptions()
    var account = AccountName(argument: "")
    var revoke = false
    var confirmation = Confirmation()

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("account", &account, "A username or an account's id.", completing: LiveCompletion.accounts)
        arguments.flag("revoke", &revoke, "Revoke the refresh tokens at the provider, too.")
        arguments.group(&confirmation)
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        // After the erasure, the name cannot be looked up.
        let name = account.username(among: nil, on: context.connection)
        try confirmation.ask { "Erase \(name) from every app, with all of its tokens?" }
        let node = try account.resolve { reference throws(BrokerClientError) in
            var params = ForgetAccount.Params(reference)
            params.revoke = revoke
            return try context.connection.result(of: ForgetAccount.self, params)
        }
        let report = try ErasureReport.decoded(node)
        context.output.result(node) {
            ErasureText.text(report, of: "\(name) with \(report.tokens) token\(report.tokens == 1 ? "" : "s")")
        }
        try ErasureText.requireRevocation(report)
    }
}

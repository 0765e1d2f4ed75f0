import BrokerCommandLine
import BrokerLink
import BrokerRPC

struct AcceptRestoreCommand: Subcommand {
    static var about: About {
        About(
            "accept-restore", "Accept the vault's current state after a restore or when records were set aside.",
            """
            Use it after restoring a backup on purpose, or after resolving what `brokerctl status` shows under Attention. Look at \
            `brokerctl apps list` first: programs that were taken off an app's list since a backup are on it again. What was \
            set aside is deleted.

            A broker that serves every user asks each of them; with --everybody root says it for all of them at once.

            Examples:
              brokerctl cache accept-restore
              sudo brokerctl cache accept-restore --everybody
            """)
    }

    var global = GlobalOptions()
    var everybody = false

    mutating func declare(in arguments: inout Arguments) {
        arguments.group(&global)
        arguments.flag("everybody", &everybody, "For all users of the machine's broker; for root.")
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        var params = AcceptRestore.Params()
        params.everybody = everybody
        try context.tell(AcceptRestore.self, params) { result in
            guard result.accepted else { return "There is nothing to accept.\n" }
            return "The vault was accepted in its current state\(everybody ? ", for everybody" : "").\n"
        }
    }
}

import BrokerCommandLine
import BrokerLink
import BrokerRPC

struct AcceptRestoreCommand: Subcommand {
    static var about: About {
        About(
            "accept-restore", "Accept the vault's current state after a restore or when records were set aside.",
            """
            Use it after an intended restore of a backup, or after resolving what `brokerctl status` shows under \
            Attention. Check `brokerctl apps list` first: programs that were removed from an app's list since the \
            backup are on it again. Records that were set aside are deleted.

            On a broker that serves every user, each user accepts the state of their own records; with --everybody, \
            root accepts it for all of them at once.

            Examples:
              brokerctl cache accept-restore
              sudo brokerctl cache accept-restore --everybody
            """)
    }

    var global = GlobalOptions()
    var everybody = false

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.flag("everybody", &everybody, "Accept for all users of the machine's broker; for root.")
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

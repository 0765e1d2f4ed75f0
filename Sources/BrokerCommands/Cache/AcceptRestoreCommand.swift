import BrokerLink
import BrokerRPC

struct AcceptRestoreCommand: Subcommand {
    static var about: About {
        About(
            "accept-restore", "Say that the vault is right as it is, after a restore or when records were set aside.",
            """
            For whoever restored a backup on purpose, or has seen to what `brokerctl status` says under Attention. Look at \
            `brokerctl apps list` first: programs that were taken off an app's list since a backup are on it again. What was \
            set aside is deleted.

            Examples:
              brokerctl cache accept-restore
            """)
    }

    var global = GlobalOptions()

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(AcceptRestore.self, .init()) { result in
            result.accepted ? "The vault as it is now is taken for right.\n" : "There is nothing to accept.\n"
        }
    }
}

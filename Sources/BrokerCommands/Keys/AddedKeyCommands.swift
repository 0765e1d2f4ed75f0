import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct AddKeySourceCommand: Subcommand {
    static var about: About {
        About(
            "add-source", "Add another source that opens the vault, such as a recovery passphrase.",
            """
            The current source still opens the vault. If it fails, as a credential does on another machine, the added \
            source opens the vault: with a passphrase, the broker starts locked, and `brokerctl unlock` asks for it. \
            Keep the passphrase apart from the machine. Anyone with a copy of the vault can try passphrases on it: \
            choose a long one. The added source replaces one that was added before, and the next `brokerctl key \
            set-source` removes it.

            Examples:
              brokerctl key add-source passphrase
            """)
    }

    var global = GlobalOptions()
    var source = ""
    var asking = PassphraseOptions()

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("source", &source, "passphrase, key-file, credential or secret-service.")
        arguments.group(&asking)
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        var params = SetKeySource.Params(source: source, place: .beside)
        params.passphrase = try asking.read(
            "Recovery passphrase of the broker", forKeySource: source, on: context.connection
        ).passphrase
        try context.tell(SetKeySource.self, params) { _ in "\(source.clean) now opens the vault, too.\n" }
    }
}

struct RemoveKeySourceCommand: Subcommand {
    static var about: About {
        About(
            "remove-source", "Stop an added source from opening the vault.",
            """
            Earlier copies of the vault still open with it, and anyone who kept one can use it to open later copies as \
            well, until the vault has another key: `brokerctl key set-source`, then `brokerctl key rotate`.

            Examples:
              brokerctl key remove-source passphrase
            """)
    }

    var global = GlobalOptions()
    var source = ""

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("source", &source, "A source added with key add-source.")
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(SetKeySource.self, .init(source: source, place: .removed)) { _ in
            "\(source.clean) no longer opens the vault.\n"
        }
    }
}

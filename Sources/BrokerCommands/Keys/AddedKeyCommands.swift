import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct AddKeySourceCommand: Subcommand {
    static var about: About {
        About(
            "add-source", "Add a source that opens the vault: a recovery passphrase.",
            """
            The vault goes on being opened as it is. Where that fails, as with a credential on another machine, what was added \
            opens it: for a passphrase the broker starts locked, and `brokerctl unlock` asks for it. Keep it apart from the machine. \
            Anyone with a copy of the vault can try passphrases on it: choose a long one. It takes the place of one that was added \
            before, and ends with the next `brokerctl key set-source`.

            Examples:
              brokerctl key add-source passphrase
            """)
    }

    var global = GlobalOptions()
    var source = ""
    var asking = PassphraseOptions()

    mutating func declare(in arguments: inout Arguments) {
        arguments.group(&global)
        arguments.argument("source", &source, "passphrase, key-file, credential or secret-service.")
        arguments.group(&asking)
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        var params = SetKeySource.Params(source: source, place: .beside)
        params.passphrase = try asking.read(
            "Recovery passphrase of the broker", forKeySource: source, on: context.connection
        ).passphrase
        try context.tell(SetKeySource.self, params) { _ in "\(source.clean) opens the vault from now on, too.\n" }
    }
}

struct RemoveKeySourceCommand: Subcommand {
    static var about: About {
        About(
            "remove-source", "Stop an added source from opening the vault.",
            """
            Copies of the vault that were made before still open with it, and anyone who kept one can use it to open later copies as well, \
            until the vault has another key: `brokerctl key set-source`, then `brokerctl key rotate`.

            Examples:
              brokerctl key remove-source passphrase
            """)
    }

    var global = GlobalOptions()
    var source = ""

    mutating func declare(in arguments: inout Arguments) {
        arguments.group(&global)
        arguments.argument("source", &source, "One that key add-source added.")
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(SetKeySource.self, .init(source: source, place: .removed)) { _ in
            "\(source.clean) does not open the vault any more.\n"
        }
    }
}

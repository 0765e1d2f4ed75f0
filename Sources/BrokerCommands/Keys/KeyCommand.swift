import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct KeyCommand: Noun {
    static var about: About {
        About(
            "key", "Show and change the key of the vault.",
            """
            Examples:
              brokerctl key status
              brokerctl key set-source passphrase
            """)
    }

    static var subcommands: [any Command.Type] {
        [
            KeyStatusCommand.self, RotateKeyCommand.self, SetKeySourceCommand.self, AddKeySourceCommand.self,
            RemoveKeySourceCommand.self,
        ]
    }
}

struct KeyStatusCommand: Subcommand {
    static var about: About {
        About(
            "status", "Show where the vault's key comes from.",
            """
            Examples:
              brokerctl key status
            """)
    }

    var global = GlobalOptions()

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(GetKeyStatus.self, .init()) { KeyText.facts($0).text(in: context.output.layout) }
    }
}

struct RotateKeyCommand: Subcommand {
    static var about: About {
        About(
            "rotate", "Give the vault a new data key.",
            """
            Use it if someone may have seen the old key. The records are sealed again in the background. Earlier \
            copies of the vault still open with the old key, so have the providers revoke the tokens in them.

            Examples:
              brokerctl key rotate
            """)
    }

    var global = GlobalOptions()

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(RotateKey.self, .init()) { _ in
            "The vault has a new data key; its records are being sealed with it.\n"
        }
    }
}

struct SetKeySourceCommand: Subcommand {
    static var about: About {
        About(
            "set-source", "Change the source of the vault's key.",
            """
            The records stay as they are. `brokerctl key status` lists the available sources. Added sources no longer \
            open the vault; add them again.

            Examples:
              brokerctl key set-source secret-service
              pass show broker | brokerctl key set-source passphrase --stdin
            """)
    }

    var global = GlobalOptions()
    var source = ""
    var asking = PassphraseOptions()

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("source", &source, "key-file, credential, secret-service or passphrase.")
        arguments.group(&asking)
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        var params = SetKeySource.Params(source: source)
        let (passphrase, before) = try asking.read(
            "New passphrase of the broker", forKeySource: source, on: context.connection)
        params.passphrase = passphrase
        try context.tell(SetKeySource.self, params) {
            "The vault's key now comes from \($0.source.clean).\n" + KeyText.ended(before.added ?? [])
                + KeyText.boundToMachine($0)
        }
    }
}

enum KeyText {
    /// - Parameter added: additional sources that opened the vault before it got another key.
    static func ended(_ added: [String]) -> String {
        added.map { "\($0.clean) no longer opens it; add it again: brokerctl key add-source \($0.clean)\n" }.joined()
    }

    /// - Returns: a warning if the key cannot open a copy of the vault on another machine; otherwise empty.
    static func boundToMachine(_ state: KeyState) -> String {
        guard state.source == "credential", state.added == nil else { return "" }
        return "A credential sealed for this machine does not work on another: a copy of the vault alone is not a "
            + "backup. A recovery passphrase opens it anywhere: brokerctl key add-source passphrase\n"
    }

    static func facts(_ state: KeyState) -> Facts {
        var facts = Facts()
        facts.add("Source", state.source.clean)
        facts.add("Also opened by", state.added?.joined(separator: ", ").clean)
        facts.add("Wrapped", state.wrappedOn.map { TimeText.relative($0, to: Output.now) } ?? "not recorded")
        facts.add("Available", state.available.joined(separator: ", ").clean)
        if state.resealing { facts.add("Records", "being sealed with the new key") }
        return facts
    }
}

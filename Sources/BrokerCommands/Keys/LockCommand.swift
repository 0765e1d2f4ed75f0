import BrokerCommandLine
import BrokerLink
import BrokerRPC

struct LockCommand: Subcommand {
    static var about: About {
        About(
            "lock", "Make the broker forget its keys until it is unlocked.",
            """
            Requests in progress are finished first. Nothing is lost: unlock brings everything back.

            Examples:
              brokerctl lock
            """)
    }

    var global = GlobalOptions()

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(LockBroker.self, .init()) { _ in "The broker is locked. Unlock it with: brokerctl unlock\n" }
    }
}

struct UnlockCommand: Subcommand {
    static var about: About {
        About(
            "unlock", "Make the broker fetch its key again.",
            """
            Asks for the passphrase if the vault's key comes from one and no program supplies it, or for the recovery \
            passphrase if the usual key is not available.

            Examples:
              brokerctl unlock
              pass show broker | brokerctl unlock --stdin
            """)
    }

    var global = GlobalOptions()
    var asking = PassphraseOptions()

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.group(&asking)
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        let status = try context.connection.call(GetBrokerStatus.self, .init())
        var params = UnlockBroker.Params()
        var isAsked = !asking.asksPerson
        let isUsual = status.vault.keySource == "passphrase"
        if !isAsked, status.locked, isUsual || hasRecovery(context) { isAsked = try !isBrought(in: context) }
        if isAsked {
            params.passphrase = try asking.read(
                isUsual ? "Passphrase of the broker" : "Recovery passphrase of the broker")
        }
        try context.tell(UnlockBroker.self, params) { _ in "The broker is unlocked.\n" }
    }

    private func hasRecovery(_ context: CommandContext) -> Bool {
        (try? context.connection.call(GetKeyStatus.self, .init()))?.added?.contains("passphrase") == true
    }

    /// Whether the broker's own program supplies the passphrase, so that no prompt is needed.
    ///
    /// - Throws: if the user may not unlock it, before any prompt.
    private func isBrought(in context: CommandContext) throws(BrokerClientError) -> Bool {
        do throws(BrokerClientError) {
            _ = try context.connection.call(UnlockBroker.self, .init())
            return true
        } catch {
            guard error.code != .accessDenied else { throw error }
            return false
        }
    }
}

import ArgumentParser
import BrokerClient
import BrokerRPC

struct LockCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "lock", abstract: "Have the broker forget its keys until it is unlocked.",
        discussion: "What is under way is finished first. Nothing is lost: unlock brings everything back.")

    @OptionGroup var global: GlobalOptions

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(LockBroker.self, .init()) { _ in "The broker is locked. Unlock it with: brokerctl unlock\n" }
    }
}

struct UnlockCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Have the broker fetch its key again.",
        discussion: "Asks for the passphrase, if that is what the vault is locked with.")

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Read the passphrase from standard input, one line, instead of the terminal.")
    var stdin = false

    func run(in context: CommandContext) throws(BrokerClientError) {
        let status = try context.connection.call(GetBrokerStatus.self, .init())
        var params = UnlockBroker.Params()
        if stdin {
            params.passphrase = try Passphrase.fromStandardInput()
        } else if status.locked, status.vault.keySource == "passphrase" {
            params.passphrase = try Passphrase.fromTerminal("Passphrase of the broker: ")
        }
        try context.tell(UnlockBroker.self, params) { _ in "The broker is unlocked.\n" }
    }
}

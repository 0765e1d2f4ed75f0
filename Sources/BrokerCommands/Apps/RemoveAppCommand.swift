import ArgumentParser
import BrokerClient
import BrokerRPC

struct RemoveAppCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Forget a registered app.",
        discussion: """
            Its tokens are kept; they serve again when the app is registered again.

            Examples:
              brokerctl apps remove notes
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The app's name.", completion: LiveCompletion.apps)
    var name: String

    func run(in context: CommandContext) throws(BrokerClientError) {
        let node = try context.connection.result(of: RemoveApp.self, .init(name: name))
        try URLHandlerFiles().remove(name)
        context.output.result(node) { "Removed \(name).\n".clean(keeping: "\n") }
    }
}

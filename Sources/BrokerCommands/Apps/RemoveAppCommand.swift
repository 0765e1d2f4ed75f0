import BrokerCommandLine
import BrokerLink
import BrokerRPC

struct RemoveAppCommand: Subcommand {
    static var about: About {
        About(
            "remove", "Forget a registered app.",
            """
            Its tokens are kept; they serve again when the app is registered again.

            Examples:
              brokerctl apps remove notes
            """)
    }

    var global = GlobalOptions()
    var name = ""

    mutating func declare(in arguments: inout Arguments) {
        arguments.group(&global)
        arguments.argument("name", &name, "The app's name.", completing: LiveCompletion.apps)
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        let node = try context.connection.result(of: RemoveApp.self, .init(name: name))
        try URLHandlerFiles().remove(name)
        context.output.result(node) { "Removed \(name).".clean + "\n" }
    }
}

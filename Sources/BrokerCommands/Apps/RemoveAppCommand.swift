import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct RemoveAppCommand: Subcommand {
    static var about: About {
        About(
            "remove", "Remove a registered app.",
            """
            Its tokens are kept and can be used again once the app is registered again.

            Examples:
              brokerctl apps remove notes
            """)
    }

    var global = GlobalOptions()
    var name = ""

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("name", &name, "The app's name.", completing: LiveCompletion.apps)
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        let node: JSONNode
        do throws(BrokerClientError) {
            node = try context.connection.result(of: RemoveApp.self, .init(name: name))
        } catch {
            // It may have been removed without its handler.
            if error.code == .appNotFound, context.connection.location.isUsual { removeHandler(context) }
            throw error
        }
        removeHandler(context)
        context.output.result(node) { "Removed \(name).".clean + "\n" }
    }

    /// The app is gone, with or without its handler.
    private func removeHandler(_ context: CommandContext) {
        do throws(BrokerClientError) { try URLHandlerFiles()?.remove(name) } catch {
            context.output.aside("brokerctl: \(error.message)".clean)
        }
    }
}

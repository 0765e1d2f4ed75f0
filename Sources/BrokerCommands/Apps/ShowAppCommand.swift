import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct ShowAppCommand: Subcommand {
    static var about: About {
        About(
            "show", "Show everything known about a registered app.",
            """
            Examples:
              brokerctl apps show notes
            """)
    }

    var global = GlobalOptions()
    var name = ""

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("name", &name, "The app's name.", completing: LiveCompletion.apps)
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        let (app, node) = try App.registered(as: name, in: context)
        context.output.result(node) { AppText.facts(app).text(in: context.output.layout) }
    }
}

extension App {
    /// - Throws: `appNotFound`.
    static func registered(
        as name: String, in context: CommandContext
    ) throws(BrokerClientError) -> (app: App, node: JSONNode) {
        let node = try context.connection.result(of: ListApps.self, .init())
        let apps = try ListApps.Result.decoded(node).apps
        guard let place = apps.firstIndex(where: { $0.name == name }), case .array(let nodes)? = node["apps"] else {
            throw BrokerClientError(
                .appNotFound,
                "No app is registered as \(name); see brokerctl apps list, or add it with brokerctl apps add.")
        }
        return (apps[place], nodes[place])
    }
}

import BrokerCommandLine
import BrokerLink
import BrokerRPC

struct ListAppsCommand: Subcommand {
    static var about: About {
        About(
            "list", "List the registered apps.",
            """
            Examples:
              brokerctl apps list
            """)
    }

    var global = GlobalOptions()
    var names = false

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.flag(
            "names", &names,
            "Print only names, for completion; names that a shell would have to quote are left out.")
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(ListApps.self, .init()) { answer in
            let apps = answer.apps
            if names { return LiveCompletion.lines(apps.map(\.name)) }
            return apps.isEmpty
                ? "No app is registered. To register one: brokerctl apps add NAME --client-id ID --authority URL\n"
                : AppText.table(apps).text(in: context.output.layout)
        }
    }
}

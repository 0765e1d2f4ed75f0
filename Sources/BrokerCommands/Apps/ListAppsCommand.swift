import ArgumentParser
import BrokerClient
import BrokerRPC

struct ListAppsCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the registered apps.",
        discussion: """
            Examples:
              brokerctl apps list
            """)

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print names alone, for completions; those that a shell would not take as they are, are left out.")
    var names = false

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

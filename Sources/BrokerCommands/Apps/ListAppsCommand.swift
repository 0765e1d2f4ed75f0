import ArgumentParser
import BrokerClient
import BrokerRPC

struct ListAppsCommand: Subcommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the registered apps.")

    @OptionGroup var global: GlobalOptions

    func run(in context: CommandContext) throws(BrokerClientError) {
        let node = try context.connection.result(of: ListApps.self, .init())
        let apps = try ListApps.Result.decoded(node).apps
        context.output.result(node) {
            apps.isEmpty
                ? "No app is registered. To register one: brokerctl apps add NAME --client-id ID --authority URL\n"
                : AppText.table(apps).text(emphasis: context.output.style.strong)
        }
    }
}

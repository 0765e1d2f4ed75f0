import ArgumentParser
import BrokerClient
import BrokerRPC

struct StatusCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show how the broker is.",
        discussion: """
            Examples:
              brokerctl status
              brokerctl status --json
              brokerctl status --watch
            """)

    @OptionGroup var global: GlobalOptions

    @Option(help: ArgumentHelp("How long the broker has to answer (1 to 3600; 5 if left out).", valueName: "seconds"))
    var timeout: Int64 = 5

    var answerTimeout: Duration? { .seconds(timeout) }

    func validate() throws {
        guard (1...3600).contains(timeout) else { throw ValidationError("--timeout takes 1 to 3600 seconds.") }
        guard !(watch && callers) else { throw ValidationError("Give --watch or --callers, not both.") }
    }

    @Flag(help: "Show who is connected instead, and what the broker judges them by.")
    var callers = false

    @Flag(help: "Look every second, until Ctrl-C.")
    var watch = false

    func run(in context: CommandContext) throws(BrokerClientError) {
        if watch { return try StatusView(connection: context.connection, output: context.output).run() }
        if callers {
            let node = try context.connection.result(of: ListCallers.self, .init())
            let connected = try ListCallers.Result.decoded(node).callers
            return context.output.result(node) { CallerText.list(connected, in: context.output.layout) }
        }
        let node = try context.connection.result(of: GetBrokerStatus.self, .init())
        let status = try GetBrokerStatus.Result.decoded(node)
        let path = context.connection.location.path
        context.output.result(node) { StatusText.text(status, socket: path, in: context.output.layout) }
    }
}

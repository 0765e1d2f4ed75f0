import BrokerCommandLine
import BrokerLink
import BrokerRPC

struct StatusCommand: Subcommand {
    static var about: About {
        About(
            "status", "Show the broker's status.",
            """
            Examples:
              brokerctl status
              brokerctl status --json
              brokerctl status --watch
            """)
    }

    var global = GlobalOptions()
    var timeout: Int64 = 5
    var answerTimeout: Duration? { .seconds(timeout) }

    func validate() throws(UsageError) {
        guard (1...3600).contains(timeout) else { throw UsageError("--timeout takes 1 to 3600 seconds.") }
        guard !(watch && callers) else { throw UsageError("Give --watch or --callers, not both.") }
    }

    var callers = false
    var watch = false

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.option(
            "timeout", &timeout, value: "seconds", "How long to wait for an answer (1 to 3600; 5 if left out).")
        arguments.flag("callers", &callers, "Show the connected callers and their facts instead.")
        arguments.flag("watch", &watch, "Refresh every second, until Ctrl-C.")
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        if watch { return try StatusView(connection: context.connection, output: context.output).run() }
        if callers {
            return try context.tell(ListCallers.self, .init()) {
                CallerText.list($0.callers, in: context.output.layout)
            }
        }
        try context.tell(GetBrokerStatus.self, .init()) {
            StatusText.facts($0, at: context.connection.location).text(in: context.output.layout)
        }
    }
}

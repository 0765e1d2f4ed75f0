import BrokerCommandLine
import BrokerLink
import BrokerRPC

struct MetricsCommand: Subcommand {
    static var about: About {
        About(
            "metrics", "Print the broker's metrics for monitoring.",
            """
            OpenMetrics text: requests by method and outcome, how long tokens took, refreshes, memory. It names no \
            person, app or program.

            Examples:
              brokerctl metrics
              brokerctl metrics --textfile ~/metrics/brokerd.prom
            """)
    }

    var global = GlobalOptions()
    var textfile: String?

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.option(
            "textfile", &textfile, value: "path",
            "Write a file for the textfile collector of a node exporter, instead of printing.",
            "The file is replaced atomically and is readable by everybody. Its name should end with .prom.",
            completing: .files)
    }

    var answerTimeout: Duration? { .seconds(10) }

    func run(in context: CommandContext) throws(BrokerClientError) {
        let node = try context.connection.result(of: GetMetrics.self, .init())
        let metrics = try GetMetrics.Result.decoded(node)
        guard let textfile else {
            // Programs read both forms, so no line may be wrapped.
            guard !context.output.json else { return context.output.result(node) { "" } }
            return StandardStream.output.write(MetricsText.text(metrics, .openMetrics))
        }
        let file = try NewFile(at: textfile, replacing: true, mode: 0o644)
        try file.write(MetricsText.text(metrics, .prometheus).utf8)
        try file.publish()
    }
}

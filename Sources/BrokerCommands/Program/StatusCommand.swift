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
            """)

    @OptionGroup var global: GlobalOptions

    @Option(help: ArgumentHelp("How long the broker has to answer (1 to 3600; 5 if left out).", valueName: "seconds"))
    var timeout: Int64 = 5

    var answerTimeout: Duration? { .seconds(timeout) }

    func validate() throws {
        guard (1...3600).contains(timeout) else { throw ValidationError("--timeout takes 1 to 3600 seconds.") }
    }
    @Flag(help: "Show who is connected instead, and what the broker judges them by.")
    var callers = false

    func run(in context: CommandContext) throws(BrokerClientError) {
        if callers {
            let node = try context.connection.result(of: ListCallers.self, .init())
            let connected = try ListCallers.Result.decoded(node).callers
            return context.output.result(node) { CallerText.list(connected, emphasis: context.output.style.strong) }
        }
        let node = try context.connection.result(of: GetBrokerStatus.self, .init())
        let status = try GetBrokerStatus.Result.decoded(node)
        let path = context.connection.location.path
        context.output.result(node) { StatusText.text(status, socket: path, style: context.output.style) }
    }
}

package enum StatusText {
    static func text(_ status: GetBrokerStatus.Result, socket: String, style: Style) -> String {
        facts(status, socket: socket).text(emphasis: style.strong)
    }

    package static func facts(_ status: GetBrokerStatus.Result, socket: String) -> Facts {
        var facts = Facts()
        facts.add("Broker", "\(status.version), protocol \(status.protocol), \(status.mode.rawValue) mode")
        facts.add("Socket", socket)
        facts.add("Running for", TimeText.span(status.uptime))
        let records = status.vault.records == 1 ? "1 record" : "\(status.vault.records) records"
        facts.add("Vault", "\(status.vault.path), \(records)\(status.locked ? ", locked" : "")")
        facts.add("Attention", attention(status.vault))
        facts.add("Key", status.vault.keySource)
        facts.add("Connections", String(status.connections))
        facts.add("Refreshes", "\(status.refreshesInFlight) in flight")
        facts.add("Device", status.device.mode.rawValue)
        facts.add("You are", status.caller.map(CallerText.you))
        return facts
    }

    /// Nil when all is well.
    private static func attention(_ vault: GetBrokerStatus.Vault) -> String? {
        let parts = VaultHealth.sentences(vault)
        return parts.isEmpty ? nil : (parts + ["brokerctl doctor says what to do."]).joined(separator: " ")
    }
}

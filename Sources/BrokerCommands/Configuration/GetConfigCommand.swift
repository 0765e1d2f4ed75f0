import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct GetConfigCommand: Subcommand {
    static var about: About {
        About(
            "get", "Print the value of one setting.",
            """
            Prints the value as a broker would read it now, and nothing for a setting without a value. config show \
            also shows where the value comes from.

            Examples:
              brokerctl config get log.level
            """)
    }

    var global = GlobalOptions()
    var name = ""

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument(
            "name", &name, "The setting, as config show names it: log.level.", completing: LiveCompletion.settings)
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        let all = try ConfigurationReport.current(of: .ask(context))
        guard let setting = all.first(where: { $0.name == name }) else {
            throw ConfigurationReport.unknown(name, among: all.map(\.name))
        }
        context.output.result(ConfigurationReport.json([setting])) {
            setting.isSet ? setting.value.clean + "\n" : ""
        }
    }
}

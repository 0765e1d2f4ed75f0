import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct ShowConfigCommand: Subcommand {
    static var about: About {
        About(
            "show", "Show every setting, its value and where that comes from.",
            """
            Shows the settings as your broker would read them now from the files that it reports. A running broker \
            uses the settings that it last read; brokerctl doctor says whether these are current, and how to reload \
            them.

            Examples:
              brokerctl config show
              brokerctl config show log.level
            """)
    }

    var global = GlobalOptions()
    var name: String?
    var names = false

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument(
            "name", &name, "Only this setting, or all of one table: log.level, cache.",
            completing: LiveCompletion.settings)
        arguments.flag("names", &names, "Show only the names, one per line.")
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        // Names are the same for all brokers, so completion in a shell need not wake one.
        let location = context.connection.location
        let all = try ConfigurationReport.current(of: names ? TargetBroker(nil, at: location) : .ask(context)) {
            context.output.aside("brokerctl: " + $0)
        }
        let chosen = name.map { name in all.filter { $0.name == name || $0.name.hasPrefix(name + ".") } } ?? all
        if let name, chosen.isEmpty {
            throw ConfigurationReport.unknown(name, among: all.map(\.name))
        }
        context.output.result(ConfigurationReport.json(chosen)) {
            guard !names else { return LiveCompletion.lines(chosen.map(\.name)) }
            var table = Table("SETTING", "VALUE", "FROM")
            for setting in chosen { table.add(setting.name, setting.value, setting.origin) }
            return table.text(in: context.output.layout)
        }
    }
}

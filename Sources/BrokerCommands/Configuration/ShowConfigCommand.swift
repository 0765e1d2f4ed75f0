import BrokerLink
import BrokerRPC
import BrokerValues

struct ShowConfigCommand: Subcommand {
    static var about: About {
        About(
            "show", "Show every setting, its value and where that comes from.",
            """
            As the broker that you use would read them now: it says which files it reads. One that runs has those that it \
            started with, or reloaded; brokerctl doctor says whether that is so, and how it reloads.

            Examples:
              brokerctl config show
              brokerctl config show log.level
            """)
    }

    var global = GlobalOptions()
    var name: String?
    var names = false

    mutating func declare(in arguments: inout Arguments) {
        arguments.group(&global)
        arguments.argument(
            "name", &name, "Only this setting, or all of one table: log.level, cache.",
            completing: LiveCompletion.settings)
        arguments.flag("names", &names, "Show the names only, one in each line.")
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        // Names are the same for all, and a shell that completes them wakes nobody.
        let location = context.connection.location
        let all = try ConfigurationReport.current(of: names ? MeantBroker(nil, at: location) : .ask(context))
        let chosen = name.map { name in all.filter { $0.name == name || $0.name.hasPrefix(name + ".") } } ?? all
        if let name, chosen.isEmpty {
            throw ConfigurationReport.unknown(name)
        }
        context.output.result(ConfigurationReport.json(chosen)) {
            guard !names else { return LiveCompletion.lines(chosen.map(\.name)) }
            var table = Table("SETTING", "VALUE", "FROM")
            for setting in chosen { table.add(setting.name, setting.value, setting.origin) }
            return table.text(in: context.output.layout)
        }
    }
}

/// What `brokerd --check-config` says, a line a setting: `name = value  # origin`.
package struct ConfigurationReport {
    package var name: String
    package var value: String
    package var origin: String

    package init?(line: Substring) {
        guard let mark = line.lastRange(ofText: "  # ") else { return nil }
        let setting = line[..<mark.lowerBound]
        origin = String(line[mark.upperBound...])
        // An app that a file registers has a name and an origin only.
        guard let equals = setting.firstRange(ofText: " = ") else {
            (name, value) = (String(setting), "")
            return
        }
        name = String(setting[..<equals.lowerBound])
        value = String(setting[equals.upperBound...])
    }

    /// What a setting without a value has in its place.
    var isSet: Bool { value != "(not set)" }

    static func unknown(_ name: String) -> BrokerClientError {
        BrokerClientError(
            .invalidParameter, "There is no setting \(name); brokerctl config show lists those there are.")
    }

    static func current(of broker: MeantBroker) throws(BrokerClientError) -> [ConfigurationReport] {
        guard let report = DaemonProgram.checkConfiguration(of: broker) else { throw noDaemon }
        guard report.status == 0 else { throw refused(report.text) }
        return report.text.split(separator: "\n").compactMap(ConfigurationReport.init)
    }

    static func json(_ settings: [ConfigurationReport]) -> JSONNode {
        let list: [JSONValue] = settings.map {
            ["name": .string($0.name), "value": .string($0.value), "origin": .string($0.origin)]
        }
        return JSONText.node(of: ["settings": .array(list)] as JSONValue)
    }

    static var noDaemon: BrokerClientError {
        BrokerClientError(
            .unsupported, "There is no brokerd beside this brokerctl that could read the configuration; install both.")
    }

    /// The sentence that says what is wrong, and where.
    static func refused(_ text: String) -> BrokerClientError {
        let lines = text.split(separator: "\n").map(String.init)
        let said = lines.first { $0.hasPrefix("brokerd: ") }?.dropFirst("brokerd: ".count) ?? lines.first?[...] ?? ""
        return BrokerClientError(.invalidParameter, said.isEmpty ? "brokerd --check-config failed." : String(said))
    }
}

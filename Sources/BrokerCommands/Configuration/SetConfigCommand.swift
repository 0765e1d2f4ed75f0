import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct SetConfigCommand: Subcommand {
    static var about: About {
        About(
            "set", "Change one setting in the broker's configuration file.",
            """
            Comments and all other settings stay as they are. The daemon checks the new file first; a value that it \
            rejects is not saved. A running broker applies the change at once, except for the few settings that need a \
            restart. The file belongs to you, or to root if one broker serves the whole machine (`sudo brokerctl \
            config set`).

            Examples:
              brokerctl config set log.level debug
              brokerctl config set oauth.allow_http_loopback true
              brokerctl config set lock.after_idle 3600
              brokerctl config set browser.command '["firefox", "--private-window", "%u"]'
            """)
    }

    var global = GlobalOptions()
    var name = ""
    var value = ""

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument(
            "name", &name, "The setting, as config show names it: log.level.",
            completing: LiveCompletion.settings)
        arguments.argument("value", &value, "Its value, in TOML or as a plain string.")
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        let broker = try TargetBroker.ask(context)
        let file = try SettingsFile(of: broker)
        try file.requireRight()
        defer { file.discard() }
        try file.whileLocked { () throws(BrokerClientError) in
            let literal = ConfigurationText.literal(value)
            try file.write(candidate: try ConfigurationText.setting(name, to: literal, in: try file.text()))
            try file.check()
            try file.keep()
        }
        let settings = (try? ConfigurationReport.current(of: broker)) ?? []
        let winner = settings.first { $0.name == name }?.otherOrigin(than: file.path)
        let taken = RunningConfiguration(broker, context.connection).takeChanges()
        let result: JSONValue = ["file": .string(file.path), "name": .string(name)]
        context.output.result(JSONText.node(of: result)) {
            guard let winner else { return "\(name) is set in \(file.path).".clean + "\n" + taken }
            return "\(name) is set in \(file.path), but \(winner) takes precedence.".clean + "\n"
        }
    }
}

import ArgumentParser

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Look at the broker's settings, and change yours.",
        discussion: """
            Examples:
              brokerctl config show log
              brokerctl config set log.level debug
            """,
        subcommands: [ShowConfigCommand.self, SetConfigCommand.self, EditConfigCommand.self])
}

import ArgumentParser

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Look at the broker's settings, and change yours.",
        subcommands: [ShowConfigCommand.self, SetConfigCommand.self, EditConfigCommand.self])
}

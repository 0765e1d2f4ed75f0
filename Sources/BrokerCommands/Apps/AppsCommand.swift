import ArgumentParser

struct AppsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps", abstract: "Register, list and remove apps.",
        subcommands: [AddAppCommand.self, ListAppsCommand.self, RemoveAppCommand.self])
}

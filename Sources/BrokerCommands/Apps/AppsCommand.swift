import ArgumentParser

struct AppsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps", abstract: "Register, show, change and remove apps.",
        subcommands: [
            AddAppCommand.self, ShowAppCommand.self, EditAppCommand.self, ListAppsCommand.self,
            RemoveAppCommand.self,
        ])
}

import ArgumentParser

struct AppsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps", abstract: "Register, show, change and remove apps.",
        discussion: """
            Examples:
              brokerctl apps list
              brokerctl apps add notes --client-id ID --authority https://id.example.org --scope notes.read
            """,
        subcommands: [
            AddAppCommand.self, ShowAppCommand.self, EditAppCommand.self, ListAppsCommand.self,
            RemoveAppCommand.self,
        ])
}

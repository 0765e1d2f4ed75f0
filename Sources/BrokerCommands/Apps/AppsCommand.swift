struct AppsCommand: Noun {
    static var about: About {
        About(
            "apps", "Register, show, change and remove apps.",
            """
            Examples:
              brokerctl apps list
              brokerctl apps add notes --client-id ID --authority https://id.example.org --scope notes.read
            """)
    }

    static var subcommands: [any Command.Type] {
        [AddAppCommand.self, ShowAppCommand.self, EditAppCommand.self, ListAppsCommand.self, RemoveAppCommand.self]
    }
}

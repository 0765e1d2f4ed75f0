struct ConfigCommand: Noun {
    static var about: About {
        About(
            "config", "Show the broker's settings, and change yours.",
            """
            Examples:
              brokerctl config show log
              brokerctl config set log.level debug
            """)
    }

    static var subcommands: [any Command.Type] {
        [ShowConfigCommand.self, GetConfigCommand.self, SetConfigCommand.self, EditConfigCommand.self]
    }
}

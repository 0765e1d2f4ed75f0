struct CacheCommand: Noun {
    static var about: About {
        About(
            "cache", "Show, clear, export and import what the broker stores.",
            """
            Examples:
              brokerctl cache stats
              brokerctl cache export ~/broker.backup
            """)
    }

    static var subcommands: [any Command.Type] {
        [
            CacheStatisticsCommand.self, ClearCacheCommand.self, ExportCacheCommand.self, ImportCacheCommand.self,
            AcceptRestoreCommand.self,
        ]
    }
}

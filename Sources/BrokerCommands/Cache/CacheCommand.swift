struct CacheCommand: Noun {
    static var about: About {
        About(
            "cache", "See, erase, save and merge what the broker keeps.",
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

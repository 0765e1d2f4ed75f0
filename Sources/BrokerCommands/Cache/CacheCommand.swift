import ArgumentParser

struct CacheCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "See, erase, save and merge what the broker keeps.",
        discussion: """
            Examples:
              brokerctl cache stats
              brokerctl cache export ~/broker.backup
            """,
        subcommands: [
            CacheStatisticsCommand.self, ClearCacheCommand.self, ExportCacheCommand.self, ImportCacheCommand.self,
            AcceptRestoreCommand.self,
        ])
}

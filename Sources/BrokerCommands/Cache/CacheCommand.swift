import ArgumentParser

struct CacheCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "See and erase what the broker keeps.",
        subcommands: [CacheStatisticsCommand.self, ClearCacheCommand.self])
}

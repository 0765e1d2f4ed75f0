import BrokerLink
import BrokerRPC
import BrokerValues

struct CacheStatisticsCommand: Subcommand {
    static var about: About {
        About(
            "stats", "Show how much the broker stores, by kind.",
            """
            Examples:
              brokerctl cache stats
              brokerctl cache stats --json
            """)
    }

    var global = GlobalOptions()

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(GetCacheStatistics.self, .init()) {
            CacheText.facts($0).text(in: context.output.layout)
        }
    }
}

package enum CacheText {
    package static func facts(_ statistics: CacheStatistics) -> Facts {
        let records = statistics.records
        var facts = Facts()
        facts.add("Apps", "\(statistics.apps)")
        facts.add("Accounts", "\(statistics.accounts), \(statistics.signedIn) signed in")
        facts.add("Groups", "\(statistics.groups)")
        facts.add("Refresh tokens", "\(records.refreshTokens)")
        facts.add("Access tokens", "\(records.accessTokens)")
        facts.add("ID tokens", "\(records.idTokens)")
        facts.add("DPoP keys", "\(records.proofKeys)")
        facts.add(
            "Other records",
            "\(records.accounts) of accounts, \(records.apps) of apps, \(records.signOuts) of sign-outs, "
                + "\(records.grants) of grants, \(records.clients) of clients, \(records.documents) of providers")
        facts.add("Audit log", "\(records.audit) rows")
        facts.add("On disk", "\(size(statistics.fileBytes)), yours \(size(statistics.recordBytes))")
        facts.add(
            "In memory",
            "\(size(statistics.cacheBytes)) of cache"
                + (statistics.residentBytes.map { ", \(size($0)) the whole broker" } ?? ""))
        return facts
    }

    /// A size in the unit that gives one to four digits, rounded up.
    package static func size(_ bytes: Int) -> String {
        guard bytes >= 1024 else { return "\(bytes) bytes" }
        let (unit, name) = bytes < 10 << 20 ? (1 << 10, "KiB") : (1 << 20, "MiB")
        return "\((bytes + unit - 1) / unit) \(name)"
    }
}

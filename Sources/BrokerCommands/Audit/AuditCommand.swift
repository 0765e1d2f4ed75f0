import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct AuditCommand: Subcommand {
    static var about: About {
        About(
            "audit", "Show past decisions and issued tokens, and verify the log.",
            """
            Oldest first. The exit status is 1 if entries of the log were changed or removed. If newer entries have \
            pushed out older ones, a note gives the time before which entries are missing.

            Examples:
              brokerctl audit --since 2h
              brokerctl audit --app mail --limit 20
            """)
    }

    var global = GlobalOptions()
    var since: TimeSpan?
    var limit: Int64 = 1000
    var app: String?
    var facts = false

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.option("since", &since, value: "time", "Only entries newer than this: 10m, 12h or 30d, for example.")
        arguments.option("limit", &limit, value: "count", "How many of the newest (1 to 10000; 1000 if left out).")
        arguments.option("app", &app, value: "name", "Only entries of this app.", completing: LiveCompletion.apps)
        arguments.flag("facts", &facts, "Also show each caller's facts.")
    }

    func validate() throws(UsageError) {
        guard (1...10_000).contains(limit) else { throw UsageError("--limit takes 1 to 10000.") }
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        var params = ListAudit.Params()
        params.since = since.map { Output.now - $0.seconds }
        params.app = app
        var log = ListAudit.Result(entries: [], intact: true, completeSince: nil)
        var nodes: [JSONNode] = []
        // Pages are read newest first.
        while true {
            params.limit = min(limit - Int64(log.entries.count), 1000)
            let node = try context.connection.result(of: ListAudit.self, params)
            let page = try ListAudit.Result.decoded(node)
            if case .array(let entries) = node["entries"] { nodes.insert(contentsOf: entries, at: 0) }
            log.entries.insert(contentsOf: page.entries, at: 0)
            log.intact = log.intact && page.intact
            log.completeSince = [log.completeSince, page.completeSince].compactMap(\.self).max()
            guard let oldest = page.entries.first, Int64(log.entries.count) < limit else { break }
            params.before = oldest.sequence
        }
        var usernames: [String: String] = [:]
        if !global.json, log.entries.contains(where: { $0.account != nil }) {
            let people = ListAccounts.Params(nil, includingSignedOut: true)
            for account in try context.connection.call(ListAccounts.self, people).accounts {
                usernames[account.id] = account.username
            }
        }
        var all: [String: JSONValue] = ["entries": .array(nodes.map(\.value)), "intact": .bool(log.intact)]
        all["completeSince"] = log.completeSince.map { .integer($0) }
        context.output.result(JSONText.node(of: JSONValue.object(all))) {
            AuditText.list(log.entries, usernames: usernames, withFacts: facts, in: context.output.layout)
        }
        if let complete = log.completeSince, let oldest = log.entries.first, oldest.time < complete {
            context.output.aside(
                "brokerctl: some entries from before \(TimeText.local(complete)) were pushed out by newer ones.")
        }
        guard log.intact else {
            context.output.aside(
                "brokerctl: the audit log was changed, or a part of it was removed; see the broker's log, "
                    + "and check who can write to the vault's folder.")
            throw BrokerClientError(.reported, "The audit log is not intact.")
        }
    }
}

import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

/// The broker's status as text. Pure.
package enum StatusText {
    package static func facts(_ status: GetBrokerStatus.Result, at location: SocketLocation) -> Facts {
        var facts = Facts()
        facts.add("Broker", "\(status.version), protocol \(status.protocol), \(status.mode.rawValue) mode")
        facts.add("Socket", location.path)
        facts.add("Running for", TimeText.span(status.uptime))
        facts.add("Vault", "\(status.vault.path), \(records(status))")
        let choice = BrokerChoice.findings(status, at: location).map(\.text)
        facts.add("Attention", attention(VaultHealth.sentences(status.vault) + choice))
        facts.add("Key", status.vault.keySource)
        facts.add("Connections", String(status.connections))
        facts.add("Refreshes", "\(status.refreshesInFlight) in flight")
        facts.add("Device", status.device.mode.rawValue)
        facts.add("You are", status.caller.map(CallerText.you))
        return facts
    }

    /// Changing facts come first, because a small terminal shows only the beginning.
    package static func screen(_ look: StatusSnapshot, socket: String, at now: NumericDate) -> Facts {
        var facts = Facts()
        let status = look.status
        facts.add("Time", TimeText.clock(now) + (look.failure == nil ? "" : ", the broker does not answer"))
        facts.add("Attention", look.failure?.message ?? attention(VaultHealth.sentences(status.vault)))
        facts.add("Running for", TimeText.span(status.uptime))
        facts.add("Connections", String(status.connections))
        if let metrics = look.metrics {
            facts.add("Requests", requests(metrics))
            facts.add("From cache", cached(metrics))
            facts.add("Refreshes", refreshes(metrics))
            facts.add("Sign-ins", "\(metrics.interactions) waiting for the person")
            facts.add("Memory", metrics.residentBytes.map { CacheText.size(Int($0)) })
            facts.add("Vault", records(status) + (metrics.vault.errors > 0 ? ", \(metrics.vault.errors) errors" : ""))
        } else {
            facts.add("Refreshes", "\(status.refreshesInFlight) in flight")
            facts.add("Vault", records(status))
        }
        facts.add("Key", status.vault.keySource)
        facts.add("Broker", "\(status.version), protocol \(status.protocol), \(status.mode.rawValue) mode")
        facts.add("Socket", socket)
        return facts
    }

    /// The same for a file or a pipe.
    package static func line(_ look: StatusSnapshot) -> String {
        let status = look.status
        var parts = ["\(status.connections) connections", records(status)]
        if let metrics = look.metrics {
            parts += ["requests: " + requests(metrics), "from cache: " + cached(metrics)]
            parts.append("refreshes: " + refreshes(metrics))
        } else {
            parts.append("\(status.refreshesInFlight) refreshes in flight")
        }
        return parts.joined(separator: "; ")
    }

    private static func requests(_ metrics: GetMetrics.Result) -> String {
        let done = metrics.requests.filter { $0.ended.outcome == "done" }.reduce(0) { $0 + $1.ended.count }
        let all = metrics.requests.reduce(0) { $0 + $1.ended.count }
        return "\(all), \(all - done) failed"
    }

    /// The number of tokens, and the median and 99th percentile of their times.
    private static func cached(_ metrics: GetMetrics.Result) -> String {
        let all = metrics.latencies.reduce(0) { $0 + $1.total }
        guard let cached = metrics.latencies.first(where: { $0.source == .cached }), cached.total > 0 else {
            return "0 of \(all) tokens"
        }
        let times = [50, 99].compactMap { percent in cached.bound(ofPercent: percent).map { "p\(percent) \($0)" } }
        return (["\(cached.total) of \(all) tokens"] + times).joined(separator: ", ")
    }

    private static func refreshes(_ metrics: GetMetrics.Result) -> String {
        let done = metrics.refreshes.first { $0.outcome == "done" }?.count ?? 0
        let all = metrics.refreshes.reduce(0) { $0 + $1.count }
        return "\(done) done, \(all - done) failed, \(metrics.refreshesInFlight) in flight"
    }

    private static func records(_ status: GetBrokerStatus.Result) -> String {
        let records = status.vault.records == 1 ? "1 record" : "\(status.vault.records) records"
        return records + (status.locked ? ", locked" : "")
    }

    /// `nil` if there is none.
    private static func attention(_ sentences: [String]) -> String? {
        sentences.isEmpty ? nil : (sentences + ["brokerctl doctor says what to do."]).joined(separator: " ")
    }
}

extension GetMetrics.Latency {
    /// The upper bound of the bucket of this percentile: "< 100 us".
    fileprivate func bound(ofPercent percent: Int64) -> String? {
        let wanted = (total * percent + 99) / 100
        var seen: Int64 = 0
        for (count, bound) in zip(counts, bounds) {
            seen += count
            guard seen >= wanted else { continue }
            return bound < 1000
                ? "< \(bound) us" : bound < 1_000_000 ? "< \(bound / 1000) ms" : "< \(bound / 1_000_000) s"
        }
        return bounds.last.map { "> \($0 / 1_000_000) s" }
    }
}

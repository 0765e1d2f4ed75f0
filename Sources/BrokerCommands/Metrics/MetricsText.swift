import BrokerCommandLine
import BrokerRPC

/// The broker's metrics in monitoring formats. Pure.
package enum MetricsText {
    /// The text format.
    package enum Format: Sendable {
        /// OpenMetrics 1.0, for scraping.
        case openMetrics
        /// Prometheus' text format 0.0.4, the only one that node exporters accept from files.
        case prometheus
    }

    package static func text(_ metrics: GetMetrics.Result, _ format: Format) -> String {
        families(metrics).map { $0.text(format) }.joined() + (format == .openMetrics ? "# EOF\n" : "")
    }

    private static func families(_ metrics: GetMetrics.Result) -> [MetricFamily] {
        let latencies = metrics.latencies
        return [
            MetricFamily(
                "brokerd_build", .info, "The program.", [.init(1, ["version": metrics.version])]),
            .gauge("brokerd_uptime_seconds", "Since the broker started.", metrics.uptime, unit: "seconds"),
            .gauge("brokerd_locked", "Whether the vault is locked.", metrics.locked ? 1 : 0),
            .gauge("brokerd_connections", "Clients connected now.", metrics.connections),
            MetricFamily(
                "brokerd_requests", .counter, "Requests answered.",
                metrics.requests.map { .init($0.ended.count, ["method": $0.method, "outcome": $0.ended.outcome]) }),
            MetricFamily(
                "brokerd_door_requests", .counter, "Requests answered, by the socket they came in on.",
                (metrics.doors ?? []).map { .init($0.count, ["door": $0.door]) }),
            MetricFamily(
                "brokerd_cache_hits", .counter, "Tokens answered from the cache.",
                latencies.filter { $0.source == .cached }.map { .init($0.total) }),
            MetricFamily(
                "brokerd_token_latency_seconds", .histogram, "How long successful silent requests took.",
                latencies.flatMap(buckets), unit: "seconds"),
            MetricFamily(
                "brokerd_refreshes", .counter, "Refresh tokens offered to providers.",
                metrics.refreshes.map { .init($0.count, ["outcome": $0.outcome]) }),
            .gauge("brokerd_refreshes_in_flight", "Refreshes not answered yet.", metrics.refreshesInFlight),
            .gauge("brokerd_interactions_open", "Sign-ins and sign-outs that wait for a person.", metrics.interactions),
            .gauge("brokerd_vault_records", "Records in the vault.", metrics.vault.records),
            .gauge("brokerd_vault_records_set_aside", "Damaged or outdated records found.", metrics.vault.quarantined),
            .gauge("brokerd_vault_records_missing", "Missing records found.", metrics.vault.missing),
            MetricFamily(
                "brokerd_vault_errors", .counter, "Reads and writes of the vault that failed.",
                [.init(metrics.vault.errors)]),
        ]
            + (metrics.unguardedSecrets.map {
                [
                    MetricFamily(
                        "brokerd_secrets_unguarded", .counter, "Secrets for which there were no guarded pages.",
                        [.init($0)])
                ]
            } ?? [])
            + (metrics.residentBytes.map {
                [.gauge("brokerd_resident_memory_bytes", "Memory of the whole broker.", $0, unit: "bytes")]
            } ?? [])
    }

    /// Buckets are cumulative.
    private static func buckets(_ latency: GetMetrics.Latency) -> [MetricFamily.Sample] {
        let source = ["source": latency.source.rawValue]
        var samples: [MetricFamily.Sample] = []
        var total: Int64 = 0
        for (count, bound) in zip(latency.counts, latency.bounds.map(seconds) + ["+Inf"]) {
            total += count
            samples.append(.init(total, source.merging(["le": bound]) { $1 }, suffix: "_bucket"))
        }
        samples.append(.init(latency.total, source, suffix: "_count"))
        samples.append(.init(text: seconds(latency.sum), source, suffix: "_sum"))
        return samples
    }

    /// `2.5`, `0.00005`: the text of a bound does not depend on its neighbours.
    private static func seconds(_ microseconds: Int64) -> String {
        let fraction = String(microseconds % 1_000_000)
        var digits = String(repeating: "0", count: 6 - fraction.count) + fraction
        while digits.count > 1, digits.last == "0" { digits.removeLast() }
        return "\(microseconds / 1_000_000).\(digits)"
    }
}

/// One metric with all its labels.
struct MetricFamily {
    enum Kind: String { case info, gauge, counter, histogram }

    struct Sample {
        var value: String
        var labels: [String: String]
        var suffix: String

        init(_ value: Int64, _ labels: [String: String] = [:], suffix: String = "") {
            self.init(text: String(value), labels, suffix: suffix)
        }

        init(text: String, _ labels: [String: String], suffix: String) {
            (value, self.labels, self.suffix) = (text, labels, suffix)
        }
    }

    private let name: String
    private let kind: Kind
    private let help: String
    private let samples: [Sample]
    private let unit: String?

    init(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample], unit: String? = nil) {
        (self.name, self.kind, self.help, self.samples, self.unit) = (name, kind, help, samples, unit)
    }

    static func gauge(_ name: String, _ help: String, _ value: Int64, unit: String? = nil) -> MetricFamily {
        MetricFamily(name, .gauge, help, [Sample(value)], unit: unit)
    }

    /// The suffix of samples in OpenMetrics is part of the name in the older format, which has no `info` type.
    func text(_ format: MetricsText.Format) -> String {
        let ending = kind == .counter ? "_total" : kind == .info ? "_info" : ""
        let isOpen = format == .openMetrics
        let title = isOpen ? name : name + ending
        let type = kind == .info && !isOpen ? Kind.gauge : kind
        var text = "# TYPE \(title) \(type.rawValue)\n"
        if let unit, isOpen { text += "# UNIT \(title) \(unit)\n" }
        text += "# HELP \(title) \(help)\n"
        for sample in samples {
            text += name + ending + sample.suffix + Self.labels(sample.labels) + " \(sample.value)\n"
        }
        return text
    }

    private static func labels(_ labels: [String: String]) -> String {
        guard !labels.isEmpty else { return "" }
        let pairs = labels.sorted { $0.key < $1.key }.map { name, value in
            let escaped = value.clean.reduce(into: "") { $0 += $1 == "\"" || $1 == "\\" ? "\\\($1)" : String($1) }
            return "\(name)=\"\(escaped)\""
        }
        return "{\(pairs.joined(separator: ","))}"
    }
}

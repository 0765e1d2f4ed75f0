import BrokerTestSupport
import Foundation
import Testing

@Suite("brokerctl metrics")
struct MetricsCommandTests {
    static let metrics = #"""
        {"version":"1.0 \"beta\"","uptime":61,"locked":false,"connections":2,"requests":[\#
        {"method":"token.acquireSilent","outcome":"done","count":9},{"method":"unknown","outcome":"refused","count":1}],"doors":[{"door":"oidc-agent","count":4}],\#
        "latencies":[{"source":"cached","bounds":[50,2500,1000000],"counts":[5,2,0,1],"sum":30000123},\#
        {"source":"refreshed","bounds":[50,2500,1000000],"counts":[0,0,1,0],"sum":310000}],\#
        "refreshes":[{"outcome":"done","count":1},{"outcome":"offline","count":3}],"refreshesInFlight":1,"interactions":2,\#
        "vault":{"records":7,"errors":4,"quarantined":1,"missing":0},"residentBytes":31457280}
        """#

    /// The result of Prometheus' own parser.
    private func parsed(_ text: String, as format: String) async throws -> [String] {
        try await withTestBed { bed in
            let script = PackageTree.root.appending(path: "Tests/BrokerTestSupport/Fixtures/metrics-parser.py").path
            let result = try await bed.run(Launch("/usr/bin/python3", [script, format]), input: text)
            #expect(result.succeeded, "\(result)\n\(text)")
            return result.lines
        }
    }

    @Test("Prometheus' own strict parser accepts the text as OpenMetrics")
    func openMetrics() async throws {
        let broker = try broker(["broker.metrics": Self.metrics])
        let result = try await brokerctl(["metrics"], at: broker.path)
        #expect(result.succeeded && result.output.hasSuffix("\n# EOF\n"))
        let samples = try await parsed(result.output, as: "openmetrics")
        for sample in [
            #"["info", "brokerd_build_info", {"version": "1.0 \"beta\""}, 1.0]"#,
            #"["gauge", "brokerd_uptime_seconds", {}, 61.0]"#,
            #"["counter", "brokerd_requests_total", {"method": "token.acquireSilent", "outcome": "done"}, 9.0]"#,
            #"["counter", "brokerd_requests_total", {"method": "unknown", "outcome": "refused"}, 1.0]"#,
            #"["counter", "brokerd_door_requests_total", {"door": "oidc-agent"}, 4.0]"#,
            #"["counter", "brokerd_cache_hits_total", {}, 8.0]"#,
            #"["counter", "brokerd_refreshes_total", {"outcome": "offline"}, 3.0]"#,
            #"["gauge", "brokerd_interactions_open", {}, 2.0]"#,
            #"["counter", "brokerd_vault_errors_total", {}, 4.0]"#,
            #"["gauge", "brokerd_resident_memory_bytes", {}, 31457280.0]"#,
        ] + Self.buckets { #expect(samples.contains(sample), "\(sample)\n\(samples.joined(separator: "\n"))") }
    }

    private static let buckets =
        [("0.00005", 5), ("0.0025", 7), ("1.0", 7), ("+Inf", 8)].map { bound, count in
            #"["histogram", "brokerd_token_latency_seconds_bucket", {"le": "\#(bound)", "source": "cached"}, \#(count).0]"#
        } + [
            #"["histogram", "brokerd_token_latency_seconds_count", {"source": "cached"}, 8.0]"#,
            #"["histogram", "brokerd_token_latency_seconds_sum", {"source": "cached"}, 30.000123]"#,
        ]

    @Test("--textfile writes a complete, world-readable file in the node exporters' format")
    func textfile() async throws {
        let broker = try broker(["broker.metrics": Self.metrics])
        try await withTestBed { bed in
            let folder = try bed.makeDirectory("metrics")
            let file = "\(folder)/brokerd.prom"
            try "old".write(toFile: file, atomically: true, encoding: .utf8)
            // Independent of the umask, because another user reads it.
            let result = try await bed.run(
                Launch(
                    "/bin/sh",
                    [
                        "-c", #"umask 077; exec "$0" --socket "$1" metrics --textfile "$2""#,
                        try PackageTree.program("brokerctl"), broker.path, file,
                    ]))
            #expect(result.succeeded && result.output.isEmpty, "\(result)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["brokerd.prom"])
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o644)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            let comments = text.split(separator: "\n").filter { $0.hasPrefix("#") }
            #expect(comments.allSatisfy { $0.hasPrefix("# TYPE ") || $0.hasPrefix("# HELP ") })
            #expect(!comments.contains { $0.hasSuffix(" info") })
            let samples = try await parsed(text, as: "prometheus")
            #expect(samples.contains(#"["counter", "brokerd_cache_hits_total", {}, 8.0]"#), "\(samples)")
            #expect(samples.contains { $0.hasPrefix(#"["histogram", "brokerd_token_latency_seconds_bucket""#) })
        }
    }

    @Test("a failed write keeps the old file and is reported")
    func noPlace() async throws {
        let broker = try broker(["broker.metrics": Self.metrics])
        let result = try await brokerctl(["metrics", "--textfile", "/nowhere/brokerd.prom"], at: broker.path)
        #expect(result.status == .exited(1) && result.errors.contains("/nowhere/brokerd.prom cannot be written"))
    }

    @Test("a real broker's metrics are valid text, and --json prints its answer")
    func real() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            _ = try await broker.ctl(["token", "--app", "nobody"])
            let result = try await broker.ctl(["metrics"])
            let samples = try await parsed(result.output, as: "openmetrics")
            let refused =
                #"["counter", "brokerd_requests_total", {"method": "token.acquireSilent", "outcome": "appNotFound"}, 1.0]"#
            #expect(samples.contains(refused), "\(samples)")
            #expect(samples.contains { $0.hasPrefix(#"["gauge", "brokerd_resident_memory_bytes""#) })
            #expect(try await broker.ctl(["metrics", "--json"]).json["latencies"] != nil)
        }
    }
}

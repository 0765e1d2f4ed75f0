import BrokerRPC
import BrokerValues

/// Counts requests where they end: by method and outcome, and how long tokens took. The hot path adds three numbers.
final class RequestCounts: Sendable {
    private let methods: [String: OutcomeCounts]
    /// One of them: the hot path does not look for it.
    private let silent: OutcomeCounts
    /// What no method is.
    private let unknown = OutcomeCounts()
    private let cached = LatencyHistogram()
    private let refreshed = LatencyHistogram()

    init() {
        methods = Dictionary(uniqueKeysWithValues: MethodRegistry.methods.map { ($0.name, OutcomeCounts()) })
        silent = methods[AcquireTokenSilent.name] ?? unknown
    }

    func of(_ method: String) -> OutcomeCounts {
        method == AcquireTokenSilent.name ? silent : methods[method] ?? unknown
    }

    /// A silent request got its token.
    func token(fromCache: Bool, after duration: Duration) { (fromCache ? cached : refreshed).add(duration) }

    var requests: [GetMetrics.RequestCount] {
        let counts = MethodRegistry.methods.map { ($0.name, of($0.name)) } + [("unknown", unknown)]
        return counts.flatMap { method, counts in
            counts.all.map { GetMetrics.RequestCount(method, .init($0.outcome, $0.count)) }
        }
    }

    var latencies: [GetMetrics.Latency] { [.init(.cached, cached), .init(.refreshed, refreshed)] }
}

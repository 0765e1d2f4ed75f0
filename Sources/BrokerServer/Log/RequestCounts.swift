import BrokerRPC
import BrokerValues

/// Counts requests when they end: by method and outcome, and how long tokens took. The hot path adds three numbers.
final class RequestCounts: Sendable {
    private let methods: [String: OutcomeCounts]
    /// One of the methods' counts: the hot path does not search for it.
    private let silent: OutcomeCounts
    /// Counts of unknown methods.
    private let unknown = OutcomeCounts()
    private let byDoor = Door.allCases.map { ($0, Counter()) }
    private let cached = LatencyHistogram()
    private let refreshed = LatencyHistogram()

    init() {
        methods = Dictionary(uniqueKeysWithValues: MethodRegistry.methods.map { ($0.name, OutcomeCounts()) })
        silent = methods[AcquireTokenSilent.name] ?? unknown
    }

    func of(_ method: String) -> OutcomeCounts {
        method == AcquireTokenSilent.name ? silent : methods[method] ?? unknown
    }

    /// As ``of(_:)``, for a request that ends now.
    func ended(_ subject: RequestEntry.Subject) -> OutcomeCounts {
        for (door, count) in byDoor where door == subject.audited.door { count.add() }
        return of(subject.method)
    }

    /// A silent request got its token.
    func token(fromCache: Bool, after duration: Duration) { (fromCache ? cached : refreshed).add(duration) }

    var requests: [GetMetrics.RequestCount] {
        let counts = MethodRegistry.methods.map { ($0.name, of($0.name)) } + [("unknown", unknown)]
        return counts.flatMap { method, counts in
            counts.all.map { GetMetrics.RequestCount(method, .init($0.outcome, $0.count)) }
        }
    }

    var doors: [GetMetrics.DoorCount] {
        byDoor.filter { $1.value > 0 }.map { GetMetrics.DoorCount($0.rawValue, $1.value) }
    }

    var latencies: [GetMetrics.Latency] { [.init(.cached, cached), .init(.refreshed, refreshed)] }
}

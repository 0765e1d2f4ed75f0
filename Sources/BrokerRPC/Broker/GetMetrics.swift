import BrokerValues

package enum GetMetrics: OwnershipMethod {
    package static let name = "broker.metrics"
    package static let summary = "The broker's requests, their outcomes and durations."
    package static let description = """
        Counts since the broker started, for all users. They are separated by method and outcome only: no caller, \
        person, app or provider is in them.
        """
    package static let isIdempotent = true
    package static let worksLocked = true
    package static let errors: [ErrorKind] = [.accessDenied]
    package static let resultName = "metrics"
    package typealias Params = Empty

    package struct Result: MessageObject, Equatable {
        package var version = ""
        package var uptime: Int64 = 0
        package var locked = false
        package var connections: Int64 = 0
        package var requests: [RequestCount] = []
        package var doors: [DoorCount]?
        package var latencies: [Latency] = []
        package var refreshes: [OutcomeCount] = []
        package var refreshesInFlight: Int64 = 0
        package var interactions: Int64 = 0
        package var vault = Vault()
        package var unguardedSecrets: Int64?
        package var residentBytes: Int64?

        package init() {}

        package static let members: [Member<Result>] = [
            .required("version", \.version, "Version of the broker."),
            .required("uptime", \.uptime, "Seconds since it started."),
            .required("locked", \.locked, "Whether the vault is locked."),
            .required("connections", \.connections, "Clients connected now."),
            .required("requests", \.requests, "Answered requests; only those that occurred are listed."),
            .optional("doors", \.doors, "The same by socket and protocol."),
            .required("latencies", \.latencies, "How long silent requests for tokens took."),
            .required(
                "refreshes", \.refreshes, "The providers' responses to refresh tokens, or their absence."),
            .required("refreshesInFlight", \.refreshesInFlight, "Refreshes the providers have not answered yet."),
            .required("interactions", \.interactions, "Sign-ins and sign-outs that now wait for a person."),
            .required("vault", \.vault, "The encrypted cache."),
            .optional(
                "unguardedSecrets", \.unguardedSecrets,
                "Secrets that came to lie in ordinary memory, because the system gave no guarded pages."),
            .optional("residentBytes", \.residentBytes, "Memory of the whole broker, as the kernel counts it."),
        ]
    }

    package struct OutcomeCount: MessageObject, Equatable {
        package var outcome = ""
        package var count: Int64 = 0

        package init() {}
        package init(_ outcome: String, _ count: Int64) {
            self.outcome = outcome
            self.count = count
        }

        package static let members: [Member<OutcomeCount>] = [
            .required(
                "outcome", \.outcome, "`done`, the kind of an error, or `refused`: it was no proper request."),
            .required("count", \.count, "How often."),
        ]
    }

    package struct RequestCount: MessageObject, Equatable {
        package var method = ""
        package var ended = OutcomeCount()

        package init() {}
        package init(_ method: String, _ ended: OutcomeCount) {
            self.method = method
            self.ended = ended
        }

        package static let members: [Member<RequestCount>] =
            [.required("method", \.method, "A method of this protocol; `unknown` for all others.")]
            + OutcomeCount.members.inside(\.ended)
    }

    package struct DoorCount: MessageObject, Equatable {
        package var door = ""
        package var count: Int64 = 0

        package init() {}
        package init(_ door: String, _ count: Int64) { (self.door, self.count) = (door, count) }

        package static let members: [Member<DoorCount>] = [
            .required("door", \.door, "The name as in audit entries."),
            .required("count", \.count, "How often."),
        ]
    }

    package enum Source: String, WireChoice {
        case cached, refreshed
    }

    package struct Latency: MessageObject, Equatable {
        package var source = Source.cached
        package var bounds: [Int64] = []
        package var counts: [Int64] = []
        package var sum: Int64 = 0

        package init() {}
        package init(_ source: Source, _ histogram: LatencyHistogram) {
            self.source = source
            bounds = LatencyHistogram.bounds
            counts = histogram.counts
            sum = histogram.sum
        }

        /// The number of requests.
        package var total: Int64 { counts.reduce(0, +) }

        package static let members: [Member<Latency>] = [
            .required(
                "source", \.source, "Where the token came from: the cache, or the provider while it was waited for."),
            .required("bounds", \.bounds, "Where the buckets end, in microseconds, ascending."),
            .required("counts", \.counts, "Requests in each bucket alone; one more is beyond the last bound."),
            .required("sum", \.sum, "Their total duration, in microseconds."),
        ]
    }

    package struct Vault: MessageObject, Equatable {
        package var records: Int64 = 0
        package var errors: Int64 = 0
        package var quarantined: Int64 = 0
        package var missing: Int64 = 0

        package init() {}

        package static let members: [Member<Vault>] = [
            .required("records", \.records, "How many records it holds."),
            .required("errors", \.errors, "Reads and writes that failed."),
            .required("quarantined", \.quarantined, "How many were found damaged or out of date, and set aside."),
            .required("missing", \.missing, "How many were found to be gone."),
        ]
    }
}

import BrokerTestSupport
import DevIdentityProvider

/// A provider behind a network, and the faults of both.
struct TroubledProvider {
    let provider: RunningProvider
    private let proxy: FaultyProxy
    private let findings: Findings
    private var troubles = Deck(FaultyProxy.Fault.allCases.map(Trouble.network) + faults.map(Trouble.answer))

    private enum Trouble {
        case network(FaultyProxy.Fault)
        case answer(Fault)
    }

    /// Faults that only the provider itself can cause: its responses are passed on unchanged.
    private static let faults = [
        Fault(.token, .status, status: 503), Fault(.token, .status, status: 429, retryAfter: 1),
        Fault(nil, .status, status: 500), Fault(.token, .garbage), Fault(.token, .html), Fault(.token, .huge),
    ]

    static func start(
        _ findings: Findings, _ spentTokens: SpentTokens, in bed: TestBed
    ) async throws -> TroubledProvider {
        let port = try FreePort.next()
        let provider = try await DevIdentityProvider.start(in: bed) {
            $0.frontPort = port
            // As short as real providers have it: a cached token lives for a part of that.
            $0.policy.accessTokenLifetime = 60
            // A refresh token whose response was lost may be sent once more: it needs no new sign-in.
            $0.policy.reuseGrace = 86_400
        }
        let proxy = try await FaultyProxy.start(on: port, to: provider.port, findings, spentTokens, in: bed)
        return TroubledProvider(provider: provider, proxy: proxy, findings: findings)
    }

    private init(provider: RunningProvider, proxy: FaultyProxy, findings: Findings) {
        (self.provider, self.proxy, self.findings) = (provider, proxy, findings)
    }

    mutating func trouble() async throws {
        switch troubles.draw() {
        case .network(let fault): try await proxy.cause(fault)
        case .answer(let fault): provider.add(fault)
        case nil: break
        }
        if Int.random(in: 0..<4) == 0 { provider.expire(.accessTokens) }
    }

    /// Stops causing faults; those that happened are counted.
    mutating func calm() {
        proxy.calm()
        provider.removeFaults()
        for entry in provider.log {
            guard let fault = entry.fault else { continue }
            findings.count(Self.name(of: fault, status: entry.status))
        }
        provider.clearLog()
    }

    static let kindsOfFaults =
        FaultyProxy.Fault.allCases.map(\.rawValue) + faults.map { name(of: $0.kind, status: $0.status) }

    private static func name(of fault: Fault.Kind, status: Int?) -> String {
        fault == .status ? "answers of status \(status ?? 0)" : "answers with fault \(fault.rawValue)"
    }
}

/// Cards that are drawn in any order, but none again before all the others.
private struct Deck<Card> {
    private let cards: [Card]
    private var rest: [Card] = []

    init(_ cards: [Card]) { self.cards = cards }

    mutating func draw() -> Card? {
        if rest.isEmpty { rest = cards.shuffled() }
        return rest.popLast()
    }
}

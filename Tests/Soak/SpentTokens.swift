import Synchronization

/// Refresh tokens whose successors reached the broker, which must not send them again. After a lost response it must.
final class SpentTokens: Sendable {
    static let replaced = "refresh tokens replaced"

    /// One request of a broker.
    struct Request: Sendable {
        fileprivate let broker: Int
        fileprivate let number: Int
    }

    private struct State {
        /// The number of brokers that ended before they had completed their requests.
        var broker = 0
        var requests = 0
        /// The last request with each token.
        var last: [String: Int] = [:]
        var replacements: [String: ContinuousClock.Instant] = [:]
    }

    /// A broker has kept a response by then.
    private static let grace = Duration.seconds(10)

    private let findings: Findings
    private let state = Mutex(State())

    init(_ findings: Findings) { self.findings = findings }

    /// The broker ended without completing its requests, and may not have kept the last successors.
    func brokerGaveUp() {
        state.withLock { state in
            state.broker += 1
            state.replacements = state.replacements.filter { ContinuousClock.now - $0.value > Self.grace }
        }
    }

    func begin() -> Request {
        state.withLock { state in
            state.requests += 1
            return Request(broker: state.broker, number: state.requests)
        }
    }

    /// The provider answers a request with this token.
    func redeemed(_ token: String, by request: Request) {
        let replacement: ContinuousClock.Instant? = state.withLock { state in
            guard state.broker == request.broker else { return nil }
            state.last[token] = request.number
            return state.replacements[token]
        }
        guard let replacement else { return }
        findings.add(
            "a refresh token was redeemed again \(ContinuousClock.now - replacement) after its successor arrived")
    }

    /// The response to a request with this token is complete, and has a successor. A response to an earlier broker reached
    /// nobody.
    func replaced(_ token: String, by request: Request) {
        let isLast: Bool? = state.withLock { state in
            guard state.broker == request.broker else { return nil }
            state.replacements[token] = .now
            return state.last[token] == request.number
        }
        guard let isLast else { return }
        findings.count(Self.replaced)
        if !isLast { findings.add("a refresh token was redeemed again before its successor arrived") }
    }
}

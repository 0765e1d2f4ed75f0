import Synchronization

/// Key pairs made in advance, for the next connections. Each is used once.
package final class AgentKeyReserve: Sendable {
    private static let most = 4
    private let pairs = Mutex<[AgentKeyPair]>([])

    package init() {}

    package func take() -> AgentKeyPair { pairs.withLock { $0.popLast() } ?? .random() }

    /// Makes one pair, if there is room for it.
    package func fill() {
        guard pairs.withLock({ $0.count < Self.most }) else { return }
        let pair = AgentKeyPair.random()
        pairs.withLock { if $0.count < Self.most { $0.append(pair) } }
    }
}

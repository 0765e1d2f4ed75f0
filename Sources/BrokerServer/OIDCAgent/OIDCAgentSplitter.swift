import BrokerOIDCAgent
import BrokerSocket

/// The bytes of one connection, which its exchange cuts: what a message is depends on the keys.
final class OIDCAgentWire {
    var exchange = AgentExchange()
    /// What the exchange said last, to be done by the conversation.
    private var step: AgentExchange.Step?

    /// - Returns: false when it needs more.
    fileprivate func look() -> Bool {
        let next = exchange.next()
        if case .needsMore = next { return false }
        step = next
        return true
    }

    func takeStep() -> AgentExchange.Step? {
        defer { step = nil }
        return step
    }
}

/// Says that there is a step to be done; its bytes are with the exchange.
struct OIDCAgentSplitter: MessageSplitter {
    let wire: OIDCAgentWire

    var holdsPart: Bool { wire.exchange.isUnderWay }
    var count: Int { wire.exchange.count }

    mutating func append(_ bytes: UnsafeRawBufferPointer) { wire.exchange.append(bytes) }
    mutating func next() -> MessageStep { wire.look() ? .message([]) : .needsMore }
    mutating func discard() { _ = wire.exchange.end(.cutOff) }
}

import BrokerOIDCAgent
import BrokerSocket

/// The bytes of one connection, which its exchange cuts: what a message is depends on the keys.
final class OIDCAgentWire {
    var exchange: AgentExchange
    /// What the exchange said last, to be done by the conversation.
    private var step: AgentExchange.Step?

    init(_ keys: AgentKeyReserve) { exchange = AgentExchange(makeKeys: keys.take) }

    fileprivate func look() -> MessageStep {
        let next = exchange.next()
        switch next {
        case .needsMore: return .needsMore
        // The bytes layer answers it, and drops the rest until the client comes to read.
        case .refuse(.tooLong): return .tooLong
        case .write, .ask, .refuse:
            step = next
            return .message([])
        }
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
    mutating func next() -> MessageStep { wire.look() }
    mutating func discard() { _ = wire.exchange.end(.cutOff) }
}

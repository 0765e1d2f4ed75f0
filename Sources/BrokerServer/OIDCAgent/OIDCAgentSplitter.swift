import BrokerOIDCAgent
import BrokerSocket

/// The bytes of one connection, split by its exchange: message boundaries depend on the keys.
final class OIDCAgentWire {
    var exchange = AgentExchange()
    /// The exchange's last step, which the conversation carries out.
    private var step: AgentExchange.Step?

    fileprivate func look() -> MessageStep {
        let next = exchange.next()
        switch next {
        case .needsMore: return .needsMore
        // The socket layer answers it, and drops the rest until the client reads.
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

/// Reports that a step is ready; its bytes are with the exchange.
struct OIDCAgentSplitter: MessageSplitter {
    let wire: OIDCAgentWire

    var holdsPart: Bool { wire.exchange.isUnderWay }
    var count: Int { wire.exchange.count }

    mutating func append(_ bytes: UnsafeRawBufferPointer) { wire.exchange.append(bytes) }
    mutating func next() -> MessageStep { wire.look() }
    mutating func discard() { wire.exchange.finish() }
}

import Synchronization

/// The shared key of both sides. Computing it takes a tenth of a millisecond, and the client needs as long for its own half. So the
/// broker's public key is sent first, and another thread may compute this meanwhile.
package final class AgentAgreement: Sendable {
    private let peer: [UInt8]
    private let own: AgentKeyPair
    /// The seal, or that there is none; `nil` until it is computed.
    private let made = Mutex<AgentSeal??>(nil)

    init(with peer: [UInt8], _ own: AgentKeyPair) { (self.peer, self.own) = (peer, own) }

    /// Computes it unless done; waits while another thread does.
    ///
    /// - Returns: `nil` for a key that yields no secret.
    @discardableResult
    package func seal() -> AgentSeal? {
        made.withLock { made in
            if let made { return made }
            let seal = AgentSeal(with: peer, own)
            made = .some(seal)
            return seal
        }
    }
}

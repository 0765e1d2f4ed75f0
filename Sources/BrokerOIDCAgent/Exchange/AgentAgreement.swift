import Synchronization

/// What both sides' keys come to. It takes a tenth of a millisecond, and the client needs as long for its own half: so the broker's key
/// goes out first, and whoever has the time may see to this meanwhile.
package final class AgentAgreement: Sendable {
    private let peer: [UInt8]
    private let own: AgentKeyPair
    /// Nil until it was made.
    private let made = Mutex<AgentSeal??>(nil)

    init(with peer: [UInt8], _ own: AgentKeyPair) { (self.peer, self.own) = (peer, own) }

    /// Makes it, where nobody has; waits where somebody does just now.
    ///
    /// - Returns: nil for a key of which nothing secret comes.
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

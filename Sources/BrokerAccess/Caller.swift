import BrokerModel
import BrokerValues

/// Who is calling, as far as it can be told, and what that is worth.
package struct Caller: Sendable, Equatable {
    /// Strongest first.
    package enum Tier: Int, Sendable, Comparable {
        case sandboxed, confined, systemInstalled, unknown
        package static func < (left: Tier, right: Tier) -> Bool { left.rawValue > right.rawValue }
    }

    package var partition: Partition
    package var tier: Tier
    /// For people and logs: a sandbox id, a label, a unit or a path.
    package var id: String
    package var facts: PeerFacts
}

import BrokerCommandLine
import BrokerRPC
import BrokerValues

/// Callers as text.
package enum CallerText {
    static func you(_ caller: GetBrokerStatus.Caller) -> String {
        let rights = caller.rights.map { ", by a socket of its own for: " + $0.map(\.rawValue).joined(separator: ", ") }
        let (id, tier) = (caller.identity.id, caller.identity.tier.rawValue)
        return "\(id) (\(tier)), \(caller.administers ? "may" : "may not") administer\(rights ?? "")"
    }

    package static func list(
        _ callers: [ListCallers.ConnectedCaller], in layout: Layout = .plain
    ) -> String {
        var table = Table("TIER", "ADMINISTERS", "CALLER")
        for caller in callers {
            table.add(
                [caller.identity.tier.rawValue, caller.administers ? "yes" : "no", caller.identity.id],
                details: [facts(caller.facts)])
        }
        return table.text(in: layout)
    }

    /// All facts that the broker used.
    static func facts(_ facts: CallerFacts) -> String {
        facts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }
}

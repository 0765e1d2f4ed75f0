import BrokerRPC
import BrokerValues

/// Callers as people read them.
package enum CallerText {
    static func you(_ caller: GetBrokerStatus.Caller) -> String {
        let rights = caller.rights.map { ", by a socket of its own for: " + $0.map(\.rawValue).joined(separator: ", ") }
        return
            "\(caller.identity.id) (\(tier(caller.identity.tier))), \(caller.administers ? "may" : "may not") administer\(rights ?? "")"
    }

    /// As `grants approve` and the configuration take it.
    static func tier(_ tier: CallerTier) -> String { tier.rawValue }

    package static func list(
        _ callers: [ListCallers.ConnectedCaller], in layout: Layout = .plain
    ) -> String {
        var table = DetailedTable("TIER", "ADMINISTERS", "CALLER")
        for caller in callers {
            table.add(
                [tier(caller.identity.tier), caller.administers ? "yes" : "no", caller.identity.id],
                details: [facts(caller.facts)])
        }
        return table.text(in: layout)
    }

    /// All of them, as the broker used them.
    static func facts(_ facts: CallerFacts) -> String {
        facts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }
}

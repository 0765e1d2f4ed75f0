import BrokerCommandLine
import BrokerRPC
import BrokerValues

/// The audit log as text.
package enum AuditText {
    package static func list(
        _ entries: [AuditEntry], usernames: [String: String] = [:], withFacts: Bool = false,
        in layout: Layout = .plain
    ) -> String {
        guard !entries.isEmpty else { return "There are no matching entries.\n" }
        var table = Table("WHEN", "METHOD", "OUTCOME", "TIMES", "APP")
        for entry in entries {
            table.add(
                [
                    TimeText.local(entry.time), entry.method, entry.outcome, String(entry.count), entry.app ?? "-",
                ],
                details: [
                    entry.caller.map { "caller \($0.id) (\($0.tier.rawValue))" } ?? "the broker itself",
                    entry.reason.map { "reason \($0)" } ?? "", token(entry, usernames), entry.detail ?? "",
                    door(entry), entry.correlationID.map { "correlation id \($0)" } ?? "",
                    withFacts ? entry.facts.map(CallerText.facts) ?? "" : "",
                ])
        }
        return table.text(in: layout)
    }

    /// The broker's own socket is the usual one.
    private static func door(_ entry: AuditEntry) -> String {
        guard let door = entry.door, door != Door.socket.rawValue else { return "" }
        return "by \(door)"
    }

    private static func token(_ entry: AuditEntry, _ usernames: [String: String]) -> String {
        guard let scopes = entry.scopes else { return "" }
        let whose = entry.account.map { " of \(usernames[$0] ?? "the account \($0)")" } ?? ""
        return "a token\(whose) for \(scopes.joined(separator: " "))"
    }
}

import BrokerCommandLine
import BrokerRPC
import BrokerValues

/// Grants and requests as text.
package enum GrantText {
    package static func list(
        _ all: ListGrants.Result, now: NumericDate, names: PeopleNames = PeopleNames(),
        in layout: Layout = .plain
    ) -> String {
        var parts: [String] = []
        if !all.requests.isEmpty {
            parts.append("Waiting for an answer (brokerctl grants approve ID, brokerctl grants deny ID):\n")
            parts.append(requests(all.requests, now, names).text(in: layout))
        }
        if !all.grants.isEmpty {
            if !parts.isEmpty { parts.append("\nGranted (brokerctl grants revoke ID):\n") }
            parts.append(grants(all.grants, now, names).text(in: layout))
        }
        return parts.isEmpty
            ? "There are no grants and no pending requests.\n" : parts.joined()
    }

    private static func requests(
        _ requests: [GrantRequest], _ now: NumericDate, _ names: PeopleNames
    ) -> Table {
        var table = Table("ID", "APP", "TIER", "ASKED")
        for request in requests {
            table.add(
                [
                    request.id, request.clientID.map { "client \($0)" } ?? request.app,
                    request.caller.tier.rawValue,
                    TimeText.relative(request.requestedOn, to: now),
                ],
                details: [
                    place(request) ?? "", "caller " + request.caller.id,
                    part(request.scopes, of: request.accountID.map { name($0, among: names) }),
                    CallerText.facts(request.facts),
                ])
        }
        return table
    }

    private static func grants(
        _ grants: [Grant], _ now: NumericDate, _ names: PeopleNames
    ) -> Table {
        var table = Table("ID", "APP", "TIER", "USES", "LAST", "ENDS")
        for grant in grants {
            table.add(
                [
                    grant.id, grant.app, grant.caller.tier.rawValue, String(grant.uses),
                    grant.lastUsedOn.map { TimeText.relative($0, to: now) } ?? "never",
                    grant.expiresOn.map { TimeText.relative($0, to: now) } ?? "never",
                ],
                details: [
                    "caller " + grant.caller.id, part(grant.scopes, of: grant.accountID.map { name($0, among: names) }),
                    grant.facts.map(CallerText.facts) ?? "",
                ])
        }
        return table
    }

    /// The domain first, then the whole authority.
    static func place(_ request: GrantRequest) -> String? {
        request.authority.map { "at \(WebURL($0)?.domain ?? $0) (\($0))" }
    }

    /// - Parameter account: the account's name; `nil` for every account.
    static func part(_ scopes: [String]?, of account: String?) -> String {
        let what =
            scopes.map { $0.isEmpty ? "the person's identity" : $0.joined(separator: " ") }
            ?? "everything the app may request"
        return "for \(what), of \(account ?? "every account")"
    }

    private static func name(_ accountID: String, among names: PeopleNames) -> String {
        names[accountID] ?? "the account \(accountID)"
    }

    static func sentence(_ grant: Grant, now: NumericDate, names: PeopleNames) -> String {
        let end = grant.expiresOn.map { "ends \(TimeText.relative($0, to: now))" } ?? "does not end"
        return
            "\(grant.caller.id) may use \(grant.app) \(part(grant.scopes, of: grant.accountID.map { name($0, among: names) })). The grant \(grant.id) \(end)."
    }
}

import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

typealias Account = BrokerValues.Account

/// Accounts as text.
package enum AccountText {
    static func who(_ account: Account) -> String {
        let name = account.name.map { "\($0) <\(account.username)>" } ?? account.username
        return "\(name) at \(account.environment)".clean
    }

    package static func table(_ accounts: [BrokerValues.Account]) -> Table {
        var table = Table("USERNAME", "NAME", "PROVIDER", "STATE", "ID")
        for account in accounts {
            table.add(
                account.username, account.name ?? "", account.environment, state(account, now: Output.now),
                account.id)
        }
        return table
    }

    package static func facts(_ account: BrokerValues.Account) -> Facts {
        var facts = Facts()
        facts.add("Username", account.username)
        facts.add("Name", account.name)
        facts.add("State", state(account, now: Output.now))
        facts.add("Authority", account.authority)
        facts.add("Tenant", account.tenantId)
        facts.add("Id", account.id)
        facts.add("Home account", account.homeAccountId)
        for profile in account.tenantProfiles ?? [] where !profile.isHomeTenant {
            let name = [profile.username, profile.name].compactMap(\.self).joined(separator: ", ")
            facts.add("Guest at", "\(profile.tenantId)\(name.isEmpty ? "" : ": \(name)")")
        }
        for (claim, value) in (account.claims ?? [:]).sorted(by: { $0.key < $1.key }) {
            facts.add("Claim \(claim)".clean, text(value))
        }
        return facts
    }

    package static func state(_ account: BrokerValues.Account, now: NumericDate) -> String {
        guard account.signedIn else { return "signed out" }
        guard let end = account.signInEndsOn, end != TokenEnd.unknown else { return "signed in" }
        return end > now ? "signed in, ends \(TimeText.relative(end, to: now))" : "has to sign in again"
    }

    private static func text(_ value: JSONValue) -> String {
        if case .string(let text) = value { return text }
        var writer = JSONWriter()
        writer.value(value)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

import BrokerRPC

/// Registered apps as text.
package enum AppText {
    package static func table(_ apps: [App]) -> Table {
        let haveFiles = apps.contains { $0.source != nil }
        var table = Table(["NAME", "GROUP", "CLIENT ID", "AUTHORITY", "SCOPES"] + (haveFiles ? ["REGISTERED BY"] : []))
        for app in apps {
            let cells = [app.name, app.group ?? "", app.clientID, app.authority, app.scopes.joined(separator: " ")]
            table.add(cells + (haveFiles ? [app.source ?? ""] : []))
        }
        return table
    }

    package static func facts(_ app: App) -> Facts {
        var facts = Facts()
        facts.add("Name", app.name)
        facts.add("Client id", app.clientID + (app.confidential ? " (with a secret)" : ""))
        facts.add("Secret sent with", app.tokenEndpointAuthMethod?.rawValue)
        facts.add("Authority", app.authority)
        facts.add("Clouds", app.instanceAware ? "the authority's and others" : nil)
        facts.add("Group", app.group)
        facts.add("Scopes", list(app.scopes))
        facts.add("Allowed scopes", app.allowedScopes.map { $0.isEmpty ? "none" : $0.joined(separator: " ") })
        facts.add("Resources", list(app.description.resources ?? []))
        let query = (app.description.query ?? [:]).sorted { $0.key < $1.key }
        facts.add("Sent with sign-ins", list(query.map { "\($0.key)=\($0.value)" }))
        facts.add("Mailbox", app.description.mailbox)
        facts.add(
            "Refresh tokens", app.description.bindRefreshToken.map { $0 ? "bound to a key" : "not bound to a key" })
        facts.add("Offline access", app.description.offlineAccess.map { $0 ? "always asked for" : "never asked for" })
        facts.add("Redirect URI", app.redirectURI)
        facts.add("Executables", list(app.executables))
        facts.add("Units", list(app.units))
        facts.add("Sandboxes", list(app.sandboxIDs))
        facts.add("Registered by", app.source)
        return facts
    }

    /// The features of the provider.
    static func outline(_ provider: ProviderOutline) -> String {
        let names = [
            "device_authorization": "device codes", "revocation": "revocation",
            "end_session": "sign-out in the browser",
            "pushed_authorization_request": "pushed requests", "registration": "registration", "dpop": "DPoP",
        ]
        let offers = provider.offers.map { names[$0] ?? $0 }
        return offers.isEmpty ? "answers" : "answers, and has " + offers.joined(separator: ", ")
    }

    private static func list(_ words: [String]) -> String? {
        words.isEmpty ? nil : words.joined(separator: " ")
    }
}

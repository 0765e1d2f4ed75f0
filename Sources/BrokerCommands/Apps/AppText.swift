import BrokerRPC

/// Registered apps as people read them.
package enum AppText {
    package static func table(_ apps: [App]) -> Table {
        var table = Table("NAME", "GROUP", "CLIENT ID", "AUTHORITY", "SCOPES")
        for app in apps {
            table.add(
                app.name, app.group ?? "", app.clientID, app.authority, app.scopes.joined(separator: " "))
        }
        return table
    }

    package static func facts(_ app: App) -> Facts {
        var facts = Facts()
        facts.add("Name", app.name)
        facts.add("Client id", app.clientID + (app.confidential ? " (with a secret)" : ""))
        facts.add("Authority", app.authority)
        facts.add("Clouds", app.instanceAware ? "the authority's and others" : nil)
        facts.add("Group", app.group)
        facts.add("Scopes", list(app.scopes))
        facts.add("Redirect URI", app.redirectURI)
        facts.add("Executables", list(app.executables))
        facts.add("Units", list(app.units))
        facts.add("Sandboxes", list(app.sandboxIDs))
        return facts
    }

    private static func list(_ words: [String]) -> String? {
        words.isEmpty ? nil : words.joined(separator: " ")
    }
}

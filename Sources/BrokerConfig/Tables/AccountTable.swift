/// `[doors.oidc_agent_accounts]`: aliases of apps, for programs that use oidc-agent.
package enum AccountTable {
    static let key = "oidc_agent_accounts"

    package static let summary =
        "Other names of apps, as programs know them that ask oidc-agent: `alias = \"app\"`. They take effect on reload."

    static func assign(_ entry: TableEntry, to result: inout LoadedConfiguration) throws(ConfigurationError) {
        let place = name(of: entry.key)
        guard case .string(let app) = entry.value else {
            throw ConfigurationError(
                .wrongType, "\(place): expects a string, not \(entry.value.typeName)", at: entry.origin)
        }
        guard !app.isEmpty, !entry.key.isEmpty else {
            throw ConfigurationError(.outOfRange, "\(place): neither name may be empty", at: entry.origin)
        }
        result.configuration.doors.oidcAgentAccounts[entry.key] = app
        result.origins[place] = entry.origin
    }

    /// An alias may contain any character, including quotes and equals signs.
    private static func name(of alias: String) -> String { "doors.\(key).\(TOMLText.quoted(alias))" }

    /// The lines that `--check-config` prints.
    static func report(_ loaded: LoadedConfiguration) -> [String] {
        loaded.configuration.doors.oidcAgentAccounts.sorted { $0.key < $1.key }.map { alias, app in
            let place = name(of: alias)
            return "\(place) = \(app)  # \(loaded.origin(of: place))"
        }
    }
}

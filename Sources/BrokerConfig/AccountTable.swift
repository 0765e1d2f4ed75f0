/// `[doors.oidc_agent_accounts]`: other names of apps, for programs that ask oidc-agent.
package enum AccountTable {
    static let key = "oidc_agent_accounts"

    package static let summary =
        "Other names of apps, as programs know them that ask oidc-agent: `alias = \"app\"`. They take effect on reload."

    static func assign(
        _ entry: (alias: String, value: SettingValue, origin: ConfigurationOrigin), to result: inout LoadedConfiguration
    ) throws(ConfigurationError) {
        let place = name(of: entry.alias)
        guard case .string(let app) = entry.value else {
            throw ConfigurationError(
                .wrongType, "\(place): expects a string, not \(entry.value.typeName)", at: entry.origin)
        }
        guard !app.isEmpty, !entry.alias.isEmpty else {
            throw ConfigurationError(.outOfRange, "\(place): neither name may be empty", at: entry.origin)
        }
        result.configuration.doors.oidcAgentAccounts[entry.alias] = app
        result.origins[place] = entry.origin
    }

    /// An alias may have any character, quotes and equals signs too.
    private static func name(of alias: String) -> String { "doors.\(key).\(Setting.Kind.quoted(alias))" }

    /// As `--check-config` prints them.
    static func report(_ loaded: LoadedConfiguration) -> [String] {
        loaded.configuration.doors.oidcAgentAccounts.sorted { $0.key < $1.key }.map { alias, app in
            let place = name(of: alias)
            return "\(place) = \(app)  # \(loaded.origins[place] ?? .default)"
        }
    }
}

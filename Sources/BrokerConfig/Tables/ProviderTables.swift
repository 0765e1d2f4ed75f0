import BrokerModel
import BrokerValues

/// The tables `[provider."https://issuer"]`.
enum ProviderTables {
    static func assign(_ entry: TableEntry, to result: inout LoadedConfiguration) throws(ConfigurationError) {
        let origin = entry.origin
        guard Authority.issuer(entry.table) != nil else {
            throw ConfigurationError(
                .outOfRange,
                "a provider's table is named by its issuer or host, as in [provider.\"https://issuer.example\"]; "
                    + "\"\(entry.table)\" is no such URL", at: origin)
        }
        guard let setting = ProviderSetting.named(entry.key) else {
            let hint = Spelling.hint(for: entry.key, among: ProviderSetting.all.map(\.name))
            throw ConfigurationError(
                .unknownKey, "there is no setting \(entry.key) of a provider\(hint)", at: origin)
        }
        do {
            try setting.assign(entry.value, to: &result.configuration.providers[entry.table, default: .init()])
        } catch {
            throw ConfigurationError(error.code, "\(entry.key): \(error.text)", at: origin)
        }
        if let other = result.configuration.contradiction(to: entry.table) {
            throw ConfigurationError(
                .outOfRange, "kind: the table of \(other) says that this host is of another kind", at: origin)
        }
        result.origins[place(entry.key, of: entry.table)] = origin
    }

    /// The check that needs all tables.
    static func check(_ result: LoadedConfiguration) throws(ConfigurationError) {
        for provider in result.configuration.providers.keys.sorted() {
            guard let mistake = result.configuration.mistake(inCloudsOf: provider) else { continue }
            throw ConfigurationError(
                .outOfRange, "other_clouds: \(mistake)", at: result.origin(of: place("other_clouds", of: provider)))
        }
    }

    /// The lines that `--check-config` prints.
    static func report(_ loaded: LoadedConfiguration) -> [String] {
        loaded.configuration.providers.keys.sorted().flatMap { provider in
            let table = loaded.configuration.providers[provider] ?? ProviderTable()
            return ProviderSetting.all.compactMap { setting -> String? in
                guard let value = setting.text(in: table) else { return nil }
                let origin = loaded.origin(of: place(setting.name, of: provider))
                return "provider.\(TOMLText.quoted(provider)).\(setting.name) = \(value)  # \(origin)"
            }
        }
    }

    private static func place(_ key: String, of provider: String) -> String { "provider.\(provider).\(key)" }
}

extension BrokerConfiguration {
    /// The mistake in a table's clouds; `nil` if there is none. Codes are sent to them, so the table must be right.
    fileprivate func mistake(inCloudsOf name: String) -> String? {
        guard let clouds = providers[name]?.otherClouds, let own = Authority.issuer(name) else { return nil }
        let kinds = providerKinds
        func isCloud(_ place: Authority) -> Bool {
            kinds[place.environment].map(\.rules.hasClouds) ?? (EntraCloud.environment(of: place.environment) != nil)
        }
        guard isCloud(own) else { return "only a provider of kind \"entra\" has other clouds" }
        for text in clouds {
            guard let cloud = Authority.issuer(text), cloud.path.isEmpty else {
                return "\"\(text)\" is not the URL of a host, as in \"https://login.example\""
            }
            guard isCloud(cloud) else { return "another table says that \(text) is of another kind" }
            guard cloud.isPlainHTTP == own.isPlainHTTP else {
                return "\(text) and \(name) must both be https, or both plain http"
            }
        }
        return nil
    }

    /// Another table that gives the same host a different kind.
    fileprivate func contradiction(to name: String) -> String? {
        guard let kind = providers[name]?.kind, let place = Authority.issuer(name) else { return nil }
        return providers.keys.sorted().first { other in
            guard other != name, let otherKind = providers[other]?.kind, otherKind != kind else { return false }
            return Authority.issuer(other)?.environment == place.environment
        }
    }
}

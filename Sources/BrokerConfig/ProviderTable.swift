import BrokerModel

/// What the configuration says about one provider.
package struct ProviderTable: Sendable, Equatable {
    package var kind: ProviderKind?
    package var completion = MetadataOverride()
    /// URLs of hosts; nil when it is not set.
    package var otherClouds: [String]?

    package init() {}
}

extension BrokerConfiguration {
    /// By host, and port where it is not the scheme's own.
    package var providerKinds: [String: ProviderKind] {
        var kinds: [String: ProviderKind] = [:]
        for table in providers.values {
            for cloud in table.otherClouds ?? [] {
                // Microsoft's own hosts say by their paths what they are.
                guard let host = Authority.issuer(cloud)?.environment, EntraCloud.environment(of: host) == nil else {
                    continue
                }
                kinds[host] = .entra
            }
        }
        for (name, table) in providers {
            if let kind = table.kind, let place = Authority.issuer(name) { kinds[place.environment] = kind }
        }
        return kinds
    }

    /// How authorities are read.
    package var authorities: AuthorityParser {
        AuthorityParser(allowsHTTPLoopback: oauth.allowHTTPLoopback, kinds: providerKinds, clouds: clouds)
    }

    private var clouds: CloudTable {
        var added: [String: Set<String>] = [:]
        for (name, table) in providers {
            guard let own = Authority.issuer(name) else { continue }
            let others = (table.otherClouds ?? []).compactMap { Authority.issuer($0).map(Self.cloud) }
            added[Self.cloud(own), default: []].formUnion(others)
        }
        return CloudTable(added)
    }

    private static func cloud(_ place: Authority) -> String {
        EntraCloud.canonical(place.environment)
    }

    /// What is wrong with a table's clouds; nil when nothing is. Codes go to them, so they must be what the table says.
    func mistake(inCloudsOf name: String) -> String? {
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
            guard cloud.isPlainHTTP == own.isPlainHTTP else { return "\(text) is not reached as \(name) is" }
        }
        return nil
    }

    package var completions: MetadataOverrides {
        let reader = authorities
        var entries: [String: MetadataOverride] = [:]
        for (name, table) in providers {
            guard let place = Authority.issuer(name) else { continue }
            // A host by itself is no authority of a kind with tenants; its entry is for all of them.
            entries[reader.recorded(name)?.url ?? place.canonicalHostURL] = table.completion
        }
        return MetadataOverrides(entries)
    }

    /// Whether two tables call one host different things.
    func contradiction(to name: String) -> String? {
        guard let kind = providers[name]?.kind, let place = Authority.issuer(name) else { return nil }
        return providers.keys.sorted().first { other in
            guard other != name, let otherKind = providers[other]?.kind, otherKind != kind else { return false }
            return Authority.issuer(other)?.environment == place.environment
        }
    }
}

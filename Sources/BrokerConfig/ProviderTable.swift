import BrokerModel

/// The configuration of one provider.
package struct ProviderTable: Sendable, Equatable {
    package var kind: ProviderKind?
    package var completion = MetadataOverride()
    /// URLs of hosts; `nil` if not set.
    package var otherClouds: [String]?

    package init() {}
}

extension BrokerConfiguration {
    /// Keyed by host, with the port if it is not the scheme's default.
    package var providerKinds: [String: ProviderKind] {
        var kinds: [String: ProviderKind] = [:]
        for table in providers.values {
            for cloud in table.otherClouds ?? [] {
                // The kind of an authority on Microsoft's own hosts follows from its path.
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

    /// The parser of authorities.
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

    /// The mistake in a table's clouds; `nil` if there is none. Codes are sent to them, so the table must be right.
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
            // A host alone is not an authority of a kind with tenants; its entry applies to all of them.
            entries[reader.recorded(name)?.url ?? place.canonicalHostURL] = table.completion
        }
        return MetadataOverrides(entries)
    }

    /// Another table that gives the same host a different kind.
    func contradiction(to name: String) -> String? {
        guard let kind = providers[name]?.kind, let place = Authority.issuer(name) else { return nil }
        return providers.keys.sorted().first { other in
            guard other != name, let otherKind = providers[other]?.kind, otherKind != kind else { return false }
            return Authority.issuer(other)?.environment == place.environment
        }
    }
}

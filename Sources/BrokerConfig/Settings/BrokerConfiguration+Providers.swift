import BrokerModel

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

    /// Additions by the administrator to the metadata of providers.
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
}

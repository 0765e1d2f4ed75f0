import BrokerModel

/// What the configuration says about one provider.
package struct ProviderTable: Sendable, Equatable {
    package var kind: ProviderKind?
    package var completion = ProviderCompletion()

    package init() {}
}

extension BrokerConfiguration {
    /// By host, and port where it is not the scheme's own.
    package var providerKinds: [String: ProviderKind] {
        var kinds: [String: ProviderKind] = [:]
        for (name, table) in providers {
            if let kind = table.kind, let place = Authority.issuer(name) { kinds[place.environment] = kind }
        }
        return kinds
    }

    /// How authorities are read.
    package var authorities: AuthorityReader {
        AuthorityReader(allowsHTTPLoopback: oauth.allowHTTPLoopback, kinds: providerKinds)
    }

    package var completions: ProviderCompletions {
        let reader = authorities
        var entries: [String: ProviderCompletion] = [:]
        for (name, table) in providers {
            guard let place = Authority.issuer(name) else { continue }
            // A host by itself is no authority of a kind with tenants; its entry is for all of them.
            entries[reader.recorded(name)?.url ?? place.canonicalHostURL] = table.completion
        }
        return ProviderCompletions(entries)
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

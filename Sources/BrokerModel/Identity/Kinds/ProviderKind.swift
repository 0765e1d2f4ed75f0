/// The kinds of provider, by their names in the configuration. All that a kind means is in its ``rules``.
package enum ProviderKind: String, Sendable, CaseIterable {
    case entra, b2c, ciam, adfs, generic

    package var rules: any ProviderRules {
        switch self {
        case .entra: EntraRules()
        case .b2c: B2CRules()
        case .ciam: CIAMRules()
        case .adfs: ADFSRules()
        case .generic: GenericRules()
        }
    }

    /// What an authority's URL says by itself.
    init(of url: AuthorityURL) { self = Self.allCases.first { $0.rules.recognizes(url) } ?? .generic }
}

/// The kinds of provider, by their names in the configuration. Their differences are in ``rules``.
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

    /// The kind that an authority's URL shows.
    init(of url: AuthorityURL) { self = Self.allCases.first { $0.rules.recognizes(url) } ?? .generic }
}

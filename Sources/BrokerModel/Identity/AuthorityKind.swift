/// What kind of provider an authority is at, and which of its tenants and policies.
package enum AuthorityKind: Sendable, Hashable {
    case entra(Tenant)
    /// Azure AD B2C. A policy (user flow) is an issuer of its own.
    case b2c(tenant: String, policy: String)
    /// Entra External ID.
    case ciam(Tenant)
    case adfs
    /// Any OpenID provider or OAuth authorization server, found by discovery.
    case generic

    /// Whether one person can have tokens of several tenants by one refresh token.
    package var hasTenants: Bool { tenant != nil }

    package var tenant: Tenant? {
        switch self {
        case .entra(let tenant), .ciam(let tenant): tenant
        case .b2c, .adfs, .generic: nil
        }
    }

    /// Whether the provider answers `client_info` and names people by `oid` and `tid`.
    package var isEntraFamily: Bool {
        switch self {
        case .entra, .b2c, .ciam: true
        case .adfs, .generic: false
        }
    }

    package var provider: ProviderKind {
        switch self {
        case .entra: .entra
        case .b2c: .b2c
        case .ciam: .ciam
        case .adfs: .adfs
        case .generic: .generic
        }
    }
}

/// The kinds by their names in the configuration.
package enum ProviderKind: String, Sendable, CaseIterable {
    case entra, b2c, ciam, adfs, generic
}

/// Which tenant an Entra authority names; lower-cased, as tenants have no case.
package enum Tenant: Sendable, Hashable {
    /// Work, school and personal accounts.
    case common
    /// Work and school accounts.
    case organizations
    /// Personal accounts.
    case consumers
    case id(String)
    /// By one of its domain names.
    case domain(String)

    package init(_ name: String) {
        let name = name.lowercased()
        switch name {
        case "common": self = .common
        case "organizations": self = .organizations
        case "consumers": self = .consumers
        default: self = Self.isID(name) ? .id(name) : .domain(name)
        }
    }

    package var name: String {
        switch self {
        case .common: "common"
        case .organizations: "organizations"
        case .consumers: "consumers"
        case .id(let name), .domain(let name): name
        }
    }

    /// Whether people of many tenants sign in here: each has a home of their own.
    package var isShared: Bool {
        switch self {
        case .common, .organizations, .consumers: true
        case .id, .domain: false
        }
    }

    /// A GUID in its 8-4-4-4-12 form.
    private static func isID(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [8, 4, 4, 4, 12] && parts.allSatisfy { $0.allSatisfy(\.isHexDigit) }
    }
}

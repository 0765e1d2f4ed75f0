/// The tenant of an Entra authority; in lower case, as tenants are case-insensitive.
package enum Tenant: Sendable, Hashable {
    /// Work, school and personal accounts.
    case common
    /// Work and school accounts.
    case organizations
    /// Personal accounts.
    case consumers
    case id(String)
    /// One of the tenant's domain names.
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

    /// Whether users of many tenants sign in here: each has their own home tenant.
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

    /// Valid characters of tenants and policies: names are used in URLs without escaping.
    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.count <= 253 && text != "." && text != ".."
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
    }
}

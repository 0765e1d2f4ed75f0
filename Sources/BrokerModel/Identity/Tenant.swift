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

    /// What tenants and policies are named: it goes into addresses as it stands.
    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.count <= 253 && text != "." && text != ".."
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
    }
}

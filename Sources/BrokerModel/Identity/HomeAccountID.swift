import BrokerValues
import CSodium

/// Names a person across apps and tenants: `uid.utid` for Entra, subject and issuer for any other provider
/// (a subject is unique only at its issuer: OpenID Connect Core, section 5.7).
package struct HomeAccountID: Sendable, Hashable, Codable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
    package init(subject: String, issuer: String) { rawValue = "\(subject)@\(issuer)" }
    /// Entra's form.
    package init(userID: String, tenantID: String) { rawValue = "\(userID).\(tenantID)" }

    /// The tenant in which the account was made; nil unless the id is of Entra's form. An issuer has slashes, and ids of
    /// Entra have none.
    package var homeTenant: String? {
        guard !rawValue.contains("/"), !rawValue.contains("@"), let dot = rawValue.lastIndex(of: ".") else {
            return nil
        }
        let tenant = rawValue[rawValue.index(after: dot)...]
        return tenant.isEmpty || dot == rawValue.startIndex ? nil : tenant.lowercased()
    }

    package init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(String.self)
    }
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    /// The opaque id apps are given: the same person has another one in another partition, and it tells nothing.
    package func accountID(in partition: Partition, environment: String) -> String {
        let digest = Blake2b.hash(Array("\(partition.uid)\u{0}\(environment)\u{0}\(rawValue)".utf8), length: 16)
        let hex = Array("0123456789abcdef")
        return String(digest.flatMap { [hex[Int($0 >> 4)], hex[Int($0 & 15)]] })
    }
}

import BrokerValues
import CSodium

/// Names a person across apps and tenants: `uid.utid` for Entra, subject and issuer for any other provider
/// (a subject is unique only at its issuer: OpenID Connect Core, section 5.7).
package struct HomeAccountID: Sendable, Hashable, Codable {
    private let exact: ExactText
    package var rawValue: String { exact.text }
    package init(rawValue: String) { exact = ExactText(rawValue) }
    package init(subject: String, issuer: String) { self.init(rawValue: "\(subject)@\(issuer)") }
    /// Entra's form.
    package init(userID: String, tenantID: String) { self.init(rawValue: "\(userID).\(tenantID)") }

    /// The tenant in which the account was made; `nil` unless the id has Entra's form. An issuer has slashes, and ids of Entra
    /// have none.
    package var homeTenant: String? {
        guard !rawValue.contains("/"), !rawValue.contains("@"), let dot = rawValue.lastIndex(of: ".") else {
            return nil
        }
        let tenant = rawValue[rawValue.index(after: dot)...]
        return tenant.isEmpty || dot == rawValue.startIndex ? nil : tenant.lowercased()
    }

    package init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    /// The account id that earlier versions gave apps: an app could verify a guess of the user's identity with it. It is still
    /// accepted (docs/decisions/0016).
    package func earlierAccountID(in partition: Partition, environment: String) -> String {
        Self.hex(Blake2b.hash(Array("\(partition.uid)\u{0}\(environment)\u{0}\(rawValue)".utf8), length: 16))
    }

    /// Whether it has the length of those ids.
    package static func isEarlier(accountID: String) -> Bool { accountID.utf8.count == 32 }

    fileprivate static func hex(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}

extension RecordVault {
    /// The opaque id for apps: a user has the same one for all apps, and another one in another partition or vault. It stays when
    /// the data key is replaced.
    package func accountID(
        of person: HomeAccountID, at environment: String, in partition: Partition
    ) throws(VaultError) -> String {
        let name = try name(of: ["account id", environment, person.rawValue], in: partition)
        return HomeAccountID.hex(name.prefix(20))
    }
}

import FoundationEssentials

/// The tenants of an Entra-like provider, with their members and guests.
package struct EntraDirectory: Sendable, Equatable {
    package struct Tenant: Sendable, Equatable {
        package var id: String
        package var domain: String
        package var name: String

        package init(id: String, domain: String, name: String) {
            self.id = id
            self.domain = domain
            self.name = name
        }
    }

    /// The tenant of personal accounts, in every cloud.
    package static let consumers = Tenant(
        id: "9188040d-6c67-4c5b-b112-36a304b66dad", domain: "personal.test", name: "Personal accounts")
    package static let alpha = Tenant(
        id: "a1fa0000-0000-4000-8000-00000000000a", domain: "alpha.test", name: "Alpha")
    package static let beta = Tenant(
        id: "be7a0000-0000-4000-8000-00000000000b", domain: "beta.test", name: "Beta")

    package var tenants = [alpha, beta, consumers]
    /// Tenant ids by user name; all other users belong to the first tenant.
    package var homes = ["bob": beta.id, "carol": consumers.id]
    /// Tenant ids by user name.
    package var guests = ["alice": [beta.id]]
    /// The permissions that `RESOURCE/.default` expands to.
    package var registeredPermissions = ["user_impersonation"]
    /// Origins of other clouds by the names of the people whose home they are. They sign in there if the client sends
    /// `instance_aware`, and not at all otherwise.
    package var otherClouds: [String: String] = [:]
    /// The host in responses to requests with `instance_aware`, instead of this provider's own.
    package var cloudInstanceHost: String?

    package init() {}

    func tenant(_ text: String) -> Tenant? {
        tenants.first { $0.id == text.lowercased() || $0.domain == text.lowercased() }
    }

    func home(of username: String) -> Tenant? { homes[username].flatMap(tenant) ?? tenants.first }

    func isGuest(_ username: String, in tenant: Tenant) -> Bool { guests[username]?.contains(tenant.id) ?? false }

    /// The object id of a person: a different one in every tenant.
    package func objectID(of username: String, in tenant: Tenant) -> String {
        let digest = Digest.sha256.of("object:\(username):\(tenant.id)".utf8)
        let hex = digest.prefix(16).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        let groups = [8, 4, 4, 4, 12].reduce(into: (rest: hex[...], parts: [Substring]())) { cut, length in
            cut.parts.append(cut.rest.prefix(length))
            cut.rest = cut.rest.dropFirst(length)
        }
        return groups.parts.joined(separator: "-")
    }

    /// The people with the addresses that they sign in with.
    func withAddresses(_ people: [ProviderUser]) -> [ProviderUser] {
        people.map { person in
            var person = person
            if let home = home(of: person.username), !person.username.contains("@") {
                person.email = "\(person.username)@\(home.domain)"
            }
            return person
        }
    }
}

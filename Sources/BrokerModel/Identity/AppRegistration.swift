import BrokerValues

/// An OAuth client as the broker knows it (protocol.md, `apps.register`).
@dynamicMemberLookup
package struct AppRegistration: Sendable, Equatable {
    package var description: AppDescription
    package var authority: Authority
    /// Makes the client confidential (RFC 6749, section 2.1).
    package var clientSecret: Secret?
    /// How the secret is shown, where the provider's registration of the client says; nil goes by the provider's metadata.
    package var secretMethod: ClientSecretMethod?
    /// Its people may be at home in other clouds than the authority's own (`instance_aware`). Means something at Entra only.
    package var isInstanceAware: Bool
    /// `PATH:LINE` of the file that registers it; nil for one of the vault.
    package var origin: String?
    /// A caller's own client id, used without a registration.
    package var isAdHoc: Bool
    /// The sandbox that an ad hoc client is used from: each sandbox has a client of its own, with accounts of its own.
    package var sandbox: String?

    package init(
        _ description: AppDescription, authority: Authority, clientSecret: Secret? = nil,
        isInstanceAware: Bool = false, isAdHoc: Bool = false
    ) {
        self.description = description
        self.authority = authority
        self.clientSecret = clientSecret
        self.isInstanceAware = isInstanceAware
        self.isAdHoc = isAdHoc
    }

    /// The hot path goes by ``description``: from another module this costs the walk of a key path.
    package subscript<Value>(dynamicMember path: WritableKeyPath<AppDescription, Value>) -> Value {
        get { description[keyPath: path] }
        set { description[keyPath: path] = newValue }
    }

    /// What a request that names no scopes asks for; what the broker adds itself need not be told to it.
    package var usualScopes: Scopes { Scopes(description.scopes).subtracting(Scopes.reserved) }

    /// Tells apps apart within a group; an ad hoc client is not the registered app of the same name.
    ///
    /// An ad hoc client that names another tenant is the same client, as it is to the cloud: a guest's request finds the account.
    package var identity: String {
        guard isAdHoc else { return Self.identity(registeredAs: description.name) }
        let place = authority.hasTenants ? authority.canonicalHostURL : authority.url
        return "adhoc:\(description.clientID) \(place)" + (sandbox.map { " in \($0)" } ?? "")
    }

    package static func identity(registeredAs name: String) -> String { "app:\(name)" }

    package var effectiveGroup: GroupID { GroupID(named: description.group, identity: identity) }

    /// The secret is for the app's own provider; anywhere else the client shows none.
    package func credentials(at place: Authority) -> ClientCredentials {
        let isOwn = place.rules.hasHostWideClients ? place.environment == authority.environment : place == authority
        return ClientCredentials(
            clientID: description.clientID, secret: isOwn ? clientSecret : nil, method: secretMethod)
    }
}

/// Who may see an account and spend its refresh tokens.
package struct GroupID: Sendable, Hashable, Codable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    /// An app without a group is a group of its own; the three kinds of group cannot be mistaken for each other.
    package init(named group: String?, identity: String) { rawValue = group.map { "group:\($0)" } ?? identity }

    package init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(String.self)
    }
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

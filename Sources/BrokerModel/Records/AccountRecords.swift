import BrokerValues

/// A person known to a group (unified cache schema, `Account`). Holds no secret.
package struct AccountRecord: VaultRecord {
    package static let kind = RecordKind.account
    package var group: GroupID
    package var homeAccountID: HomeAccountID
    package var environment: String
    package var realm: String
    package var authority: String
    package var username: String
    package var name: String?
    package var tenantID: String?
    /// Names by which requests named the tenant, other than its id.
    package var domainNames: [String]?
    package var claims: JSONObject
    package var signedIn: Bool
    /// When it was signed out for all apps of its group; nil while it is signed in.
    package var signedOutAt: NumericDate?
    /// By ``AppRegistration/identity``: when the app signed it in, or was notified that it is the current one, if the app has not
    /// been notified of another since. `nil` for none.
    package var currentFor: [String: NumericDate]?
    /// By ``AppRegistration/identity``: when the user chose it for the app among several accounts; the latest choice counts.
    package var defaultFor: [String: NumericDate]?
    /// When the account was first seen: lists are sorted by it, then by username.
    package var createdAt: NumericDate
    /// Other fields of an imported record; kept, not used, as long as the group knows the user in this tenant.
    package var extra: JSONObject?

    package init(
        group: GroupID, homeAccountID: HomeAccountID, environment: String, realm: String, authority: String,
        username: String, name: String? = nil, tenantID: String? = nil, claims: JSONObject = [:], signedIn: Bool = true,
        createdAt: NumericDate
    ) {
        self.group = group
        self.homeAccountID = homeAccountID
        self.environment = environment
        self.realm = realm
        self.authority = authority
        self.username = username
        self.name = name
        self.tenantID = tenantID
        self.claims = claims
        self.signedIn = signedIn
        self.createdAt = createdAt
    }

    package var bucket: [String] { [group.rawValue] }
    package var item: [String] { [homeAccountID.rawValue, environment, realm] }
}

/// Records that one app may not use an account silently any more, although others of its group may (unified cache schema,
/// `AccountMetadata`). Absent means it may.
package struct SignOutRecord: VaultRecord {
    package static let kind = RecordKind.signOut
    package var group: GroupID
    /// ``AppRegistration/identity``.
    package var app: String
    package var homeAccountID: HomeAccountID
    package var environment: String
    package var since: NumericDate

    package init(
        group: GroupID, app: String, homeAccountID: HomeAccountID, environment: String, since: NumericDate
    ) {
        self.group = group
        self.app = app
        self.homeAccountID = homeAccountID
        self.environment = environment
        self.since = since
    }

    package var bucket: [String] { [group.rawValue] }
    package var item: [String] { [app, homeAccountID.rawValue, environment] }
}

/// A registered app; the secret is its client secret, if it has one. On disk all fields are at one level.
@dynamicMemberLookup
package struct AppRecord: VaultRecord {
    package static let kind = RecordKind.app
    package var description: AppDescription
    package var authority: String
    package var isConfidential: Bool
    package var secretMethod: ClientSecretMethod?
    package var isInstanceAware: Bool

    package var bucket: [String] { [] }
    package var item: [String] { [description.name] }

    /// The same as ``AppRegistration/effectiveGroup``.
    package var effectiveGroup: GroupID {
        GroupID(
            named: description.group, identity: AppRegistration.identity(registeredAs: description.name))
    }

    package init(_ app: AppRegistration) {
        description = app.description
        authority = app.authority.url
        isConfidential = app.clientSecret != nil
        secretMethod = app.clientSecret == nil ? nil : app.secretMethod
        isInstanceAware = app.isInstanceAware
    }

    package init(_ entry: AppFileEntry) {
        description = entry.description
        authority = entry.authority
        isConfidential = false
        isInstanceAware = entry.isInstanceAware
    }

    package subscript<Value>(dynamicMember path: KeyPath<AppDescription, Value>) -> Value {
        description[keyPath: path]
    }

    private enum CodingKeys: CodingKey {
        case authority, isConfidential, secretMethod, isInstanceAware
    }

    package init(from decoder: any Decoder) throws {
        description = try AppDescription(from: decoder)
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        authority = try fields.decode(String.self, forKey: .authority)
        isConfidential = try fields.decode(Bool.self, forKey: .isConfidential)
        // Records of earlier versions lack the rest.
        secretMethod = try fields.decodeIfPresent(ClientSecretMethod.self, forKey: .secretMethod)
        isInstanceAware = try fields.decodeIfPresent(Bool.self, forKey: .isInstanceAware) ?? false
    }

    package func encode(to encoder: any Encoder) throws {
        try description.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(authority, forKey: .authority)
        try fields.encode(isConfidential, forKey: .isConfidential)
        try fields.encodeIfPresent(secretMethod, forKey: .secretMethod)
        try fields.encodeIfPresent(isInstanceAware ? true : nil, forKey: .isInstanceAware)
    }
}

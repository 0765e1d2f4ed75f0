import BrokerValues

/// An OAuth client as the broker knows it (protocol.md, `apps.register`). Copies share their content, so passing one on costs one
/// reference.
@dynamicMemberLookup
package struct AppRegistration: Sendable, Equatable {
    private struct Fields: Equatable {
        var description: AppDescription
        var authority: Authority
        var clientSecret: Secret?
        var secretMethod: ClientSecretMethod?
        var isInstanceAware: Bool
        var origin: String?
        var isAdHoc: Bool
        var sandbox: String?
    }

    private final class Shared: Sendable {
        let fields: Fields
        let identity: String
        let effectiveGroup: GroupID
        let scopeCeiling: Scopes?
        let sandboxNames: Set<String>

        init(_ fields: Fields) {
            self.fields = fields
            identity = AppRegistration.identity(of: fields)
            effectiveGroup = GroupID(named: fields.description.group, identity: identity)
            scopeCeiling = fields.description.allowedScopes.map { Scopes($0).union(.harmless) }
            sandboxNames = Set(fields.description.sandboxIDs.map(CallerName.sandbox))
        }
    }

    private var shared: Shared

    package static func == (left: AppRegistration, right: AppRegistration) -> Bool {
        left.shared === right.shared || left.shared.fields == right.shared.fields
    }

    package init(
        _ description: AppDescription, authority: Authority, clientSecret: Secret? = nil,
        isInstanceAware: Bool = false, isAdHoc: Bool = false
    ) {
        shared = Shared(
            Fields(
                description: description, authority: authority, clientSecret: clientSecret,
                isInstanceAware: isInstanceAware, isAdHoc: isAdHoc))
    }

    private mutating func set<Value>(_ path: WritableKeyPath<Fields, Value>, _ value: Value) {
        var fields = shared.fields
        fields[keyPath: path] = value
        shared = Shared(fields)
    }

    package var description: AppDescription {
        _read { yield shared.fields.description }
        set { set(\.description, newValue) }
    }

    package var authority: Authority {
        get { shared.fields.authority }
        set { set(\.authority, newValue) }
    }

    /// Makes the client confidential (RFC 6749, section 2.1).
    package var clientSecret: Secret? {
        get { shared.fields.clientSecret }
        set { set(\.clientSecret, newValue) }
    }

    /// The app for everything that outlives a request: while the broker is locked, no client secret is in memory.
    package var withoutSecret: AppRegistration {
        var app = self
        app.clientSecret = nil
        return app
    }

    /// How the client authenticates, if its registration at the provider says so; `nil` uses the provider's metadata.
    package var secretMethod: ClientSecretMethod? {
        get { shared.fields.secretMethod }
        set { set(\.secretMethod, newValue) }
    }

    /// Users may belong to other clouds than the authority's own (`instance_aware`). Entra only.
    package var isInstanceAware: Bool {
        get { shared.fields.isInstanceAware }
        set { set(\.isInstanceAware, newValue) }
    }

    /// `PATH:LINE` of the file that registers it; `nil` for one in the vault.
    package var origin: String? {
        get { shared.fields.origin }
        set { set(\.origin, newValue) }
    }

    /// A caller's own client id, used without a registration.
    package var isAdHoc: Bool { shared.fields.isAdHoc }

    /// The sandbox that uses an ad hoc client: each sandbox has its own client, with its own accounts. The name has its earlier,
    /// untyped form, so that the accounts of earlier versions are found.
    package var sandbox: String? {
        get { shared.fields.sandbox }
        set { set(\.sandbox, newValue) }
    }

    /// The hot path uses ``description``: from another module this subscript walks a key path.
    package subscript<Value>(dynamicMember path: WritableKeyPath<AppDescription, Value>) -> Value {
        get { description[keyPath: path] }
        set { description[keyPath: path] = newValue }
    }

    /// The scopes of a request that names none; without those that the broker adds itself.
    package var usualScopes: Scopes { Scopes(description.scopes).subtracting(Scopes.reserved) }

    /// Distinguishes apps within a group; an ad hoc client is not the registered app of the same name.
    ///
    /// An ad hoc client that names another tenant is the same client, as it is for the cloud: a guest's request finds the
    /// account.
    package var identity: String { shared.identity }

    private static func identity(of app: Fields) -> String {
        guard app.isAdHoc else { return identity(registeredAs: app.description.name) }
        let place = app.authority.hasTenants ? app.authority.canonicalHostURL : app.authority.url
        return "adhoc:\(app.description.clientID) \(place)" + (app.sandbox.map { " in \($0)" } ?? "")
    }

    package static func identity(registeredAs name: String) -> String { "app:\(name)" }

    package var effectiveGroup: GroupID { shared.effectiveGroup }

    /// The same as in ``description``: the hot path reads it here, where nothing has to be copied for another module.
    package var clientID: String {
        get { shared.fields.description.clientID }
        set { description.clientID = newValue }
    }

    /// Whether connections to its authority do not use TLS.
    package var isPlainHTTP: Bool { shared.fields.authority.isPlainHTTP }

    /// Whether its registration lists its allowed callers.
    package var listsCallers: Bool {
        !(shared.fields.description.executables.isEmpty && shared.fields.description.units.isEmpty
            && shared.fields.description.sandboxIDs.isEmpty)
    }

    /// Whether the program, or its unit, is among the allowed callers.
    ///
    /// - Parameter unitNames: the names by which a list may refer to the unit.
    package func lists(executable: String?, unitNames: [String]) -> Bool {
        if let executable, shared.fields.description.executables.contains(executable) { return true }
        return unitNames.contains(where: shared.fields.description.units.contains)
    }

    /// - Parameter sandbox: its typed name.
    package func lists(sandbox: String) -> Bool { shared.sandboxNames.contains(sandbox) }

    /// The largest scope set of its tokens; `nil` for no limit.
    package var scopeCeiling: Scopes? { shared.scopeCeiling }

    /// The secret is for the app's own provider; elsewhere the client has none.
    package func credentials(at place: Authority) -> ClientCredentials {
        let isOwn = place.rules.hasHostWideClients ? place.environment == authority.environment : place == authority
        return ClientCredentials(
            clientID: description.clientID, secret: isOwn ? clientSecret : nil, method: secretMethod)
    }
}

/// The apps that share accounts and refresh tokens.
package struct GroupID: Sendable, Hashable, Codable {
    private let exact: ExactText
    package var rawValue: String { exact.text }
    package init(rawValue: String) { exact = ExactText(rawValue) }

    /// An app without a group has a group of its own; the three kinds of group cannot be confused.
    package init(named group: String?, identity: String) {
        self.init(rawValue: group.map { "group:\($0)" } ?? identity)
    }

    package init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

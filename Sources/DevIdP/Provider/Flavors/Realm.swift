/// The provider under the name that a request used: a server of many tenants answers under as many names, a plain
/// provider under its one.
struct Realm: Sendable, Equatable {
    /// Scheme, host, port and path that the endpoints hang below.
    let base: String
    /// What the path says about the tenant; nil where there are no tenants.
    var tenant: String?
}

/// Who a person is, in one realm and for one client.
struct Identity: Sendable {
    /// `iss` of their tokens.
    let issuer: String
    let subject: String
    /// `preferred_username`.
    let username: String
    /// Further claims of their ID and access tokens.
    var claims: [String: JSON] = [:]
}

/// The provider under the name in a request: a server of many tenants has as many names, a plain
/// provider has one.
struct Realm: Sendable, Equatable {
    /// Scheme, host, port and path under which the endpoints are.
    let base: String
    /// The tenant segment of the path; `nil` without tenants.
    var tenant: String?
}

/// A person's identity in one realm and for one client.
struct Identity: Sendable {
    /// `iss` of their tokens.
    let issuer: String
    let subject: String
    /// `preferred_username`.
    let username: String
    /// Further claims of their ID and access tokens.
    var claims: [String: JSON] = [:]
}

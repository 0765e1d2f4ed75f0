/// A provider that follows the standards.
struct OpenIDFlavor: Flavor {
    let issuerPath: String
    let scopes: Set<String>
    let allowsRegistration: Bool

    var realmPath: String { issuerPath }

    var paths: EndpointPaths {
        EndpointPaths(
            discovery: "/.well-known/openid-configuration", keys: "/jwks", authorize: "/authorize", token: "/token",
            userInfo: "/userinfo", endSession: "/logout", deviceAuthorization: "/device_authorization",
            revoke: "/revoke", push: "/par", register: allowsRegistration ? "/register" : nil,
            introspect: "/introspect")
    }

    func realm(origin: String, tenant: String?) -> Realm { Realm(base: origin + issuerPath) }

    func pathBelowRealm(_ path: String) -> String? {
        path.hasPrefix(issuerPath) ? String(path.dropFirst(issuerPath.count)) : nil
    }

    func takes(scope: String) -> Bool { scopes.contains(scope) }

    func identity(of user: ProviderUser, in realm: Realm, for client: ProviderClient) -> Identity {
        Identity(issuer: realm.base, subject: user.subject, username: user.username)
    }

    let refreshRules = RefreshRules()

    func accessScopes(_ scopes: [String]) -> [String] { scopes }

    func audience(scopes: [String], resources: [String], realm: Realm) -> [String] {
        resources.isEmpty ? [realm.base] : resources
    }

    func finish(discovery members: inout [String: JSON], of realm: Realm) {
        members["scopes_supported"] = .strings(scopes.sorted())
        members["code_challenge_methods_supported"] = ["S256"]
        members["authorization_response_iss_parameter_supported"] = true
    }

    func finish(answer members: inout [String: JSON], to issue: TokenIssue) {}

    func redirectParameters(of request: AuthorizationRequest, sessionID: String) -> [(String, String?)] {
        [("iss", request.realm.base)]
    }

    func elsewhere(_ user: ProviderUser, _ request: AuthorizationRequest) -> String? { nil }

    func finish(deviceAnswer members: inout [String: JSON]) {}

    func members(of failure: OAuthFailure, correlationID: String?, time: Int) -> [String: JSON] {
        ["error": .string(failure.code.rawValue), "error_description": .string(failure.description)]
    }
}

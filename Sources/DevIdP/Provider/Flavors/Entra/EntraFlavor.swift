import FoundationEssentials

/// Microsoft Entra's v2.0 endpoints: many tenants on one host, object ids, families of clients, its own error bodies.
struct EntraFlavor: Flavor {
    let directory: EntraDirectory

    /// Path segments that mean "the person's own tenant".
    private static let shared = ["common", "organizations"]
    private static let openIDScopes = ["openid", "profile", "email", "offline_access"]
    static let graph = "https://graph.microsoft.com"

    /// Below `common`: the hosts of one cloud.
    static let instancePath = "/discovery/instance"

    let realmPath = "/:tenant"
    let paths = EndpointPaths(
        discovery: "/v2.0/.well-known/openid-configuration", keys: "/discovery/v2.0/keys",
        authorize: "/oauth2/v2.0/authorize", token: "/oauth2/v2.0/token", userInfo: "/oidc/userinfo",
        endSession: "/oauth2/v2.0/logout", deviceAuthorization: "/oauth2/v2.0/devicecode")

    func realm(origin: String, tenant text: String?) throws(OAuthFailure) -> Realm {
        let text = text ?? ""
        if Self.shared.contains(text.lowercased()) {
            return Realm(base: "\(origin)/\(text.lowercased())", tenant: text.lowercased())
        }
        guard let tenant = text.lowercased() == "consumers" ? EntraDirectory.consumers : directory.tenant(text) else {
            throw OAuthFailure(.invalidTenant, "Tenant '\(text)' not found.", .unknownTenant)
        }
        return Realm(base: "\(origin)/\(tenant.id)", tenant: tenant.id)
    }

    func pathBelowRealm(_ path: String) -> String? {
        path.dropFirst().firstIndex(of: "/").map { String(path[$0...]) }
    }

    func takes(scope: String) -> Bool { !scope.contains { $0 == "\"" || $0 == "\\" || $0 == "*" } }

    func identity(
        of user: ProviderUser, in realm: Realm, for client: ProviderClient
    ) throws(OAuthFailure) -> Identity {
        guard let home = directory.home(of: user.username), directory.otherClouds[user.username] == nil else {
            throw OAuthFailure(.invalidGrant, "the person has no tenant", .notInTenant)
        }
        let tenant: EntraDirectory.Tenant
        switch realm.tenant {
        case "common": tenant = home
        case "organizations": tenant = try require(home, home != EntraDirectory.consumers, user)
        default:
            let named = realm.tenant.flatMap { directory.tenant($0) } ?? home
            tenant = try require(named, named == home || directory.isGuest(user.username, in: named), user)
        }
        let origin = realm.base.dropLast(1 + (realm.tenant ?? "").count)
        let objectID = directory.objectID(of: user.username, in: tenant)
        let pairwise = Digest.sha256.of("\(objectID):\(client.id)".utf8).base64URLText
        return Identity(
            issuer: "\(origin)/\(tenant.id)/v2.0", subject: pairwise, username: user.email,
            claims: ["tid": .string(tenant.id), "oid": .string(objectID), "ver": "2.0"])
    }

    func elsewhere(_ user: ProviderUser, _ request: AuthorizationRequest) -> String? {
        guard request.isInstanceAware, case .redirect = request.channel,
            let cloud = directory.otherClouds[user.username], let tenant = request.realm.tenant
        else { return nil }
        return appendQuery(request.form.pairs, to: "\(cloud)/\(tenant)\(paths.authorize)")
    }

    private func require(
        _ tenant: EntraDirectory.Tenant, _ isTheirs: Bool, _ user: ProviderUser
    ) throws(OAuthFailure) -> EntraDirectory.Tenant {
        guard isTheirs else {
            throw OAuthFailure(
                .invalidGrant, "User account '\(user.email)' does not exist in tenant '\(tenant.name)'.", .notInTenant)
        }
        return tenant
    }

    /// A refresh token is valid for every resource that was consented to, and in every tenant.
    let refreshRules = RefreshRules(allowsOtherScopes: true, knowsFamilies: true)

    /// An access token is for one resource, the first one named.
    func accessScopes(_ scopes: [String]) throws(OAuthFailure) -> [String] {
        let about = scopes.filter { !Self.openIDScopes.contains($0) }
        let ofOpenID = scopes.filter { Self.openIDScopes.contains($0) && $0 != "offline_access" }
        guard let resource = about.first.map(Self.resource) else { return ofOpenID }
        let own = about.filter { Self.resource(of: $0) == resource }
        guard let wholesale = own.first(where: { $0.hasSuffix(".default") }) else { return own + ofOpenID }
        guard own.count == 1 else {
            throw OAuthFailure(.invalidScope, ".default scope can't be combined with resource-specific scopes.")
        }
        let stem = wholesale.dropLast(".default".count)
        return directory.registeredPermissions.map { stem + $0 } + [wholesale] + ofOpenID
    }

    func audience(scopes: [String], resources: [String], realm: Realm) -> [String] {
        [scopes.first { !Self.openIDScopes.contains($0) }.map(Self.resource) ?? Self.graph]
    }

    /// The part before a scope's last slash; Graph's scopes may omit it.
    private static func resource(of scope: String) -> String {
        scope.lastIndex(of: "/").map { String(scope[..<$0]) } ?? graph
    }

    func redirectParameters(of request: AuthorizationRequest, sessionID: String) -> [(String, String?)] {
        let own = request.realm.base.split(separator: "/").dropFirst().first.map(String.init)
        let cloud = request.isInstanceAware ? directory.cloudInstanceHost ?? own : nil
        return [
            ("session_state", sessionID), ("cloud_instance_name", cloud), ("cloud_instance_host_name", cloud),
        ]
    }
}

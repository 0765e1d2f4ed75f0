/// The differences between kinds of providers: the endpoints, the admitted users, and the format of the responses. The
/// common part is in the extensions of ``Provider``.
protocol Flavor: Sendable {
    /// The locations of the endpoints, below the realm.
    var paths: EndpointPaths { get }
    /// The router's path of the realms: it may have a parameter `tenant`.
    var realmPath: String { get }

    /// - Parameter tenant: the path's segment.
    func realm(origin: String, tenant: String?) throws(OAuthFailure) -> Realm

    /// The part of a request's path that is below a realm.
    func pathBelowRealm(_ path: String) -> String?

    func takes(scope: String) -> Bool

    /// The person's identity in the realm; refused if the realm is not theirs.
    func identity(of user: ProviderUser, in realm: Realm, for client: ProviderClient) throws(OAuthFailure) -> Identity

    /// The permitted uses of a refresh token in a token request.
    var refreshRules: RefreshRules { get }

    /// The scopes of an access token for these requested and consented scopes.
    func accessScopes(_ scopes: [String]) throws(OAuthFailure) -> [String]

    /// `aud` of an access token.
    func audience(scopes: [String], resources: [String], realm: Realm) -> [String]

    /// Adapts the discovery document to this provider's format.
    func finish(discovery members: inout [String: JSON], of realm: Realm)

    /// Adapts a token response to this provider's format.
    func finish(answer members: inout [String: JSON], to issue: TokenIssue)

    /// The parameters that return to the client with the code.
    func redirectParameters(of request: AuthorizationRequest, sessionID: String) -> [(String, String?)]

    /// The cloud in which the person signs in, if they belong to another one and the client supports that.
    func elsewhere(_ user: ProviderUser, _ request: AuthorizationRequest) -> String?

    /// Adapts a device authorization response to this provider's format.
    func finish(deviceAnswer members: inout [String: JSON])

    /// The members of an error, in a body or a redirect.
    func members(of failure: OAuthFailure, correlationID: String?, time: Int) -> [String: JSON]
}

/// The paths of a provider's endpoints. A missing endpoint is not announced.
struct EndpointPaths: Sendable {
    var discovery: String
    var keys: String
    var authorize: String
    var token: String
    var userInfo: String
    var endSession: String
    var deviceAuthorization: String
    var revoke: String?
    var push: String?
    var register: String?
    var introspect: String?

    func endpoint(of path: String) -> Endpoint? {
        switch path {
        case discovery: .discovery
        case keys: .jwks
        case authorize: .authorize
        case token: .token
        case userInfo: .userinfo
        case endSession: .endSession
        case deviceAuthorization: .deviceAuthorization
        case revoke: .revoke
        case push: .par
        case register: .register
        case introspect: .introspect
        default: nil
        }
    }
}

/// The permitted uses of a refresh token.
struct RefreshRules: Sendable {
    /// It may be redeemed for scopes outside its grant.
    var allowsOtherScopes = false
    /// Members of a family may redeem each other's.
    var knowsFamilies = false
}

/// A token response under construction.
struct TokenIssue: Sendable {
    let client: ProviderClient
    let user: ProviderUser
    let identity: Identity
    let grant: Grant
    /// The token request.
    let form: FormValues
    let policy: TokenPolicy
}

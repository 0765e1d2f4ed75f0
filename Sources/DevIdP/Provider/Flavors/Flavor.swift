/// What makes one kind of provider differ from another: where its endpoints are, whom it lets in, and how its answers
/// look. What all have in common is in the extensions of ``Provider``.
protocol Flavor: Sendable {
    /// Where the endpoints are, below the realm.
    var paths: EndpointPaths { get }
    /// The router's path of the realms: it may have a parameter `tenant`.
    var realmPath: String { get }

    /// - Parameter tenant: the path's segment.
    func realm(origin: String, tenant: String?) throws(OAuthFailure) -> Realm

    /// The part of a request's path that is below a realm.
    func pathBelowRealm(_ path: String) -> String?

    func takes(scope: String) -> Bool

    /// Who this person is in the realm; refused when the realm is not theirs.
    func identity(of user: ProviderUser, in realm: Realm, for client: ProviderClient) throws(OAuthFailure) -> Identity

    /// What a token request may ask of a refresh token.
    var refreshRules: RefreshRules { get }

    /// The scopes of an access token, when these were asked for and agreed to.
    func accessScopes(_ scopes: [String]) throws(OAuthFailure) -> [String]

    /// `aud` of an access token.
    func audience(scopes: [String], resources: [String], realm: Realm) -> [String]

    /// Brings the discovery document into this provider's form.
    func finish(discovery members: inout [String: JSON], of realm: Realm)

    /// Brings a token answer into this provider's form.
    func finish(answer members: inout [String: JSON], to issue: TokenIssue)

    /// What comes back to the client beside the code.
    func redirectParameters(of request: AuthorizationRequest, sessionID: String) -> [(String, String?)]

    /// Where the person signs in instead, when they belong to another cloud and the client allows for that.
    func elsewhere(_ user: ProviderUser, _ request: AuthorizationRequest) -> String?

    /// Brings a device authorization answer into this provider's form.
    func finish(deviceAnswer members: inout [String: JSON])

    /// The members of an error, in a body or a redirect.
    func members(of failure: OAuthFailure, correlationID: String?, time: Int) -> [String: JSON]
}

/// Where a provider has its endpoints. What it has not, it does not announce.
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

/// What may be done with a refresh token.
struct RefreshRules: Sendable {
    /// It may be spent for scopes that were not in its grant.
    var allowsOtherScopes = false
    /// Members of a family may spend each other's.
    var knowsFamilies = false
}

/// A token answer in the making.
struct TokenIssue: Sendable {
    let client: ProviderClient
    let user: ProviderUser
    let identity: Identity
    let grant: Grant
    /// The token request.
    let form: FormValues
    let policy: TokenPolicy
}

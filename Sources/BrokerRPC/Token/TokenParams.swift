import BrokerValues

/// What the requests for a token have in common.
package protocol TokenParams: AppSelecting, CorrelatedParams {
    var scopes: [String] { get set }
    var account: AccountReference? { get set }
    var claims: ClaimsRequest? { get set }
    var minimumLifetime: Int64? { get set }
    var tokenType: TokenType { get set }
    var resource: ResourceList? { get set }
    var clientCapabilities: [String] { get set }
    var instanceAware: Bool? { get set }
}

extension TokenParams {
    /// As with ``AppSelecting/appMembers(_:_:_:authority:)``, the key paths come from the type itself.
    static func tokenMembers(_ paths: TokenParamPaths<Self>, account summary: String) -> [Member<Self>] {
        appMembers(
            paths.app, paths.clientId, paths.authority, authority: overridableAuthority
        ) + [
            .required(
                "scopes", paths.scopes,
                "What the token must be good for. The broker adds openid, profile and offline_access itself.",
                .each(.scope, atMost: 100)),
            .optional("account", paths.account, summary),
            .optional(
                "claims", paths.claims,
                """
                Claims request or challenge (OpenID Connect Core, section 5.5), as an object, as its JSON text, or as that \
                text in base64, the form it has in WWW-Authenticate. Bypasses the cached token.
                """),
            .optional(
                "minimumLifetime", paths.minimumLifetime, "Seconds for which the token must still be good.",
                .between(0...86_400)),
            .defaulted(
                "tokenType", paths.tokenType, "How the API takes the token: RFC 6750 or RFC 9449.", to: .bearer),
            .optional(
                "resource", paths.resource,
                "Where the token must be good: an absolute URI, or several (RFC 8707). Absent leaves it to the scopes."),
            .defaulted(
                "clientCapabilities", paths.clientCapabilities,
                """
                What the app can deal with, such as cp1 (claims challenges); goes into the claims request and does not \
                bypass the cached token.
                """, to: [], .each(.word(atMost: 64), atMost: 16)),
            .optional(
                "instanceAware", paths.instanceAware,
                """
                Microsoft Entra: whether the person may be at home in another cloud than the authority's own \
                (instance_aware). Absent: as the app is registered.
                """),
            .optional(
                "correlationId", paths.correlationId,
                "Ties the request to logs, here and at the provider; made when absent.", .correlationID),
        ]
    }

    package func check() throws(WireError) {
        try checkSelection(isRequired: true, authorityMayStandBesideApp: true)
    }
}

/// Where a type keeps what ``TokenParams`` have in common.
struct TokenParamPaths<Params> {
    let app: WritableKeyPath<Params, String?> & Sendable
    let clientId: WritableKeyPath<Params, String?> & Sendable
    let authority: WritableKeyPath<Params, String?> & Sendable
    let scopes: WritableKeyPath<Params, [String]> & Sendable
    let account: WritableKeyPath<Params, AccountReference?> & Sendable
    let claims: WritableKeyPath<Params, ClaimsRequest?> & Sendable
    let minimumLifetime: WritableKeyPath<Params, Int64?> & Sendable
    let tokenType: WritableKeyPath<Params, TokenType> & Sendable
    let resource: WritableKeyPath<Params, ResourceList?> & Sendable
    let clientCapabilities: WritableKeyPath<Params, [String]> & Sendable
    let instanceAware: WritableKeyPath<Params, Bool?> & Sendable
    let correlationId: WritableKeyPath<Params, String?> & Sendable
}

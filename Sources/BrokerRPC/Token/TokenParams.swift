import BrokerValues

/// Params that request a token.
@dynamicMemberLookup
package protocol TokenParams: AppParams {
    var query: TokenQuery { get set }
    var waitForGrant: Int64? { get set }
    var correlationId: String? { get set }
    init()
}

extension TokenParams {
    package init(_ app: AppReference, scopes: [String]) {
        self.init()
        selection = AppSelection(app)
        query.scopes = scopes
    }

    package subscript<Value>(dynamicMember path: WritableKeyPath<TokenQuery, Value>) -> Value {
        get { query[keyPath: path] }
        set { query[keyPath: path] = newValue }
    }

    package static var takesOtherAuthority: Bool { true }

    package var reach: AppReach {
        .token(
            // No scopes would be the app's usual ones.
            scopes: query.scopes.isEmpty && query.isNarrow ? ["openid"] : query.scopes, resources: query.resources,
            extra: query.challenge?.scopes ?? [], account: query.account)
    }

    static var waitingMember: Member<Self> {
        .optional(
            "waitForGrant", \.waitForGrant,
            """
            Seconds to wait if a person must allow the caller first; the client gets interaction.grant, and the request \
            continues when they agree. Absent: it gets grantRequired at once.
            """, .between(1...3600))
    }
}

/// The members of params for a ``TokenQuery``.
extension TokenQuery {
    static let members: [Member<TokenQuery>] = [
        .required(
            "scopes", \.scopes,
            "The token's scopes. The broker adds openid, profile and offline_access itself.",
            .each(.scope, atMost: 100)),
        .optional(
            "claims", \.claimsRequest,
            """
            Claims request or challenge (OpenID Connect Core, section 5.5), as an object, as its JSON text, or as that \
            text in base64, the form it has in WWW-Authenticate. Bypasses the cached token.
            """),
        .defaulted("tokenType", \.tokenType, "How the API takes the token: RFC 6750 or RFC 9449.", to: .bearer),
        .optional(
            "resource", \.resourceList,
            "The token's resource: an absolute URI, or several (RFC 8707). Absent leaves it to the scopes."),
        .defaulted(
            "clientCapabilities", \.clientCapabilities,
            """
            The app's capabilities, such as cp1 (claims challenges); added to the claims request and does not \
            bypass the cached token.
            """, to: [], .each(.word(atMost: 64), atMost: 16)),
    ]

    /// For methods whose account may be known in advance.
    static func members(account summary: String) -> [Member<TokenQuery>] {
        members + [
            .optional("account", \.account, summary),
            .optional(
                "minimumLifetime", \.minimumLifetime, "The minimum remaining lifetime of the token in seconds.",
                .between(0...86_400)),
            .optional(
                "instanceAware", \.instanceAware,
                """
                Microsoft Entra: whether the person's home may be another cloud than the authority's own \
                (instance_aware). Absent: as the app is registered.
                """),
        ]
    }

    var claimsRequest: ClaimsRequest? {
        get { claims.map(ClaimsRequest.init) }
        set { claims = newValue?.json }
    }

    var resourceList: ResourceList? {
        get { resources.isEmpty ? nil : ResourceList(resources) }
        set { resources = newValue?.uris ?? [] }
    }
}

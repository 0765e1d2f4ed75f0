import BrokerValues

/// What the requests for a token have in common.
package protocol TokenParams: AppSelecting {
    var scopes: [String] { get set }
    var account: AccountReference? { get set }
    var claims: ClaimsRequest? { get set }
    var minimumLifetime: Int64? { get set }
    var tokenType: TokenType { get set }
    var correlationId: String? { get set }
}

extension TokenParams {
    /// As with ``AppSelecting/appMembers(_:_:_:authority:)``, the key paths come from the type itself.
    static func tokenMembers(_ paths: TokenParamPaths<Self>, account summary: String) -> [Member<Self>] {
        appMembers(
            paths.app, paths.clientId, paths.authority,
            authority: """
                Issuer URL: with clientId the app's, with app another one for this request only (a guest's tenant).
                """
        ) + [
            .required(
                "scopes", paths.scopes,
                "What the token must be good for. The broker adds openid, profile and offline_access itself.",
                .each(.scope, atMost: 100)),
            .optional("account", paths.account, summary),
            .optional(
                "claims", paths.claims,
                """
                Claims request or challenge (OpenID Connect Core, section 5.5), as an object or as its JSON text. \
                Bypasses the cached token.
                """),
            .optional(
                "minimumLifetime", paths.minimumLifetime, "Seconds for which the token must still be good.",
                .between(0...86_400)),
            .defaulted(
                "tokenType", paths.tokenType, "How the API takes the token: RFC 6750 or RFC 9449.", to: .bearer),
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
    let correlationId: WritableKeyPath<Params, String?> & Sendable
}

/// The `claims` parameter: JSON text of an object, given as such or as the object itself.
package struct ClaimsRequest: WireValue, Equatable {
    package let json: String

    /// - Parameter json: the text of a JSON object; the broker refuses anything else.
    package init(json: String) { self.json = json }

    package static var schema: Schema {
        Schema(["oneOf": [["type": "object"], ["type": "string", "contentMediaType": "application/json"]]])
    }

    package init(reading node: JSONNode) throws(WireError) {
        switch node {
        case .object:
            var writer = JSONWriter()
            writer.value(node.value, sorted: true)
            json = String(decoding: writer.bytes, as: UTF8.self)
        case .string(let text):
            guard case .object? = try? JSONReader.read(text.utf8) else {
                throw WireError("must be a JSON object, or the text of one")
            }
            json = text
        default: throw .expected("an object or its JSON text", not: node)
        }
        guard json.utf8.count <= 65_536 else { throw WireError("must have at most 65536 bytes") }
    }

    package func write(to writer: inout JSONWriter) { writer.string(json) }
}

import BrokerLink
import BrokerRPC
import BrokerValues

/// How `brokerctl token` prints a token.
package enum TokenFormat: String, CaseIterable, Sendable, ArgumentValue {
    case raw, json, header, env, xoauth2

    /// - Parameters:
    ///   - result: the ``Token``, as the broker wrote it. Only what is printed is read: a program that prints a token is over
    ///     before all of it would be.
    ///   - readable: JSON over several lines.
    /// - Returns: what to print, lines ended.
    /// - Throws: ``BrokerClientError/Code/invalidResponse`` when the token or a name has characters that would make
    ///   something else of the output; ``BrokerClientError/Code/unsupported`` for XOAUTH2 with a token that is not a
    ///   bearer's.
    func text(_ result: JSONNode, readable: Bool) throws(BrokerClientError) -> String {
        switch self {
        case .raw: return try Self.visible("accessToken", of: result) + "\n"
        case .json: return JSONText.line(result, readable: readable)
        case .header: return "Authorization: \(try Self.visible("authorizationHeader", of: result))\n"
        case .env: return Self.environment(try Self.token(result))
        case .xoauth2: return try Self.xoauth2(try Self.token(result))
        }
    }

    private static func token(_ result: JSONNode) throws(BrokerClientError) -> Token {
        let token = try Token.decoded(result)
        try requireVisible(token.accessToken)
        return token
    }

    private static func visible(_ name: String, of result: JSONNode) throws(BrokerClientError) -> String {
        guard case .object(let members) = result, let member = members.first(where: { $0.name == name }) else {
            throw .notUnderstood(cause: WireError("is missing", field: name))
        }
        let text = try String.decoded(member.value)
        try requireVisible(text)
        return text
    }

    private static func environment(_ token: Token) -> String {
        let variables = [
            ("BROKER_ACCESS_TOKEN", token.accessToken),
            ("BROKER_TOKEN_TYPE", token.tokenType.rawValue),
            ("BROKER_TOKEN_EXPIRES_ON", String(token.expiresOn)),
            ("BROKER_TOKEN_SCOPES", token.scopes.joined(separator: " ")),
            ("BROKER_ACCOUNT", token.account.username),
            ("BROKER_AUTHORITY", token.authority),
        ]
        return variables.map { "export \($0)=\(ShellText.inQuotes($1.clean))\n" }.joined()
    }

    /// The SASL mechanism of Google's and Microsoft's mail servers. Its parts are ended by ^A, which therefore must not
    /// be in them.
    private static func xoauth2(_ token: Token) throws(BrokerClientError) -> String {
        guard token.tokenType == .bearer else {
            throw BrokerClientError(.unsupported, "XOAUTH2 takes bearer tokens only; ask for one.")
        }
        let username = token.account.username
        guard username == username.clean else {
            throw BrokerClientError(
                .invalidResponse, "The account's username has control characters, so it cannot be used for XOAUTH2.")
        }
        let text = "user=\(username)\u{1}auth=Bearer \(token.accessToken)\u{1}\u{1}"
        return base64Text(Array(text.utf8)) + "\n"
    }

    /// - Throws: ``BrokerClientError/Code/invalidResponse`` for other than printable ASCII (VSCHAR), with which a token would
    ///   be more than a token wherever it is printed.
    package static func requireVisible(_ token: String) throws(BrokerClientError) {
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw BrokerClientError(
                .invalidResponse,
                "The provider's token has characters that no token may have (RFC 6749, appendix A.12); it is not printed."
            )
        }
    }
}

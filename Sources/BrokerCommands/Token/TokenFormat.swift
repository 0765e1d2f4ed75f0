import ArgumentParser
import BrokerClient
import BrokerRPC
import FoundationEssentials

/// How `brokerctl token` prints a token.
package enum TokenFormat: String, CaseIterable, Sendable, ExpressibleByArgument {
    case raw, json, header, env, xoauth2

    /// - Parameter token: as the broker gave it.
    /// - Returns: what to print, lines ended.
    /// - Throws: ``BrokerClientError/Code/invalidResponse`` when the token or a name has characters that would make
    ///   something else of the output; ``BrokerClientError/Code/unsupported`` for XOAUTH2 with a token that is not a
    ///   bearer's.
    package func text(_ token: Token) throws(BrokerClientError) -> String {
        try Self.requireVisible(token.accessToken)
        try Self.requireVisible(token.authorizationHeader)
        switch self {
        case .raw: return token.accessToken + "\n"
        case .json: return JSONText.line(JSONText.node(of: token), readable: false)
        case .header: return "Authorization: \(token.authorizationHeader)\n"
        case .env: return Self.environment(token)
        case .xoauth2: return try Self.xoauth2(token)
        }
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
        return Data(text.utf8).base64EncodedString() + "\n"
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

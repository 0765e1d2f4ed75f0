import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

/// How `brokerctl token` prints a token.
package enum TokenFormat: String, CaseIterable, Sendable, ArgumentValue {
    case raw, json, header, env, xoauth2

    package static let meanings = [
        "raw": "the token alone", "json": "the whole answer", "header": "an HTTP header line",
        "env": "variables for a shell", "xoauth2": "for IMAP and SMTP",
    ]

    /// - Parameters:
    ///   - result: the ``Token``, as the broker wrote it. Only the printed parts are decoded, because decoding everything would
    ///     take longer than the rest of the program.
    ///   - readable: whether to print JSON on several lines.
    ///   - user: the mailbox for XOAUTH2; the account's username if left out.
    /// - Returns: the text to print, with newlines.
    /// - Throws: ``BrokerClientError/Code/invalidResponse`` if the token or a name contains characters that would change the
    ///   meaning of the output; ``BrokerClientError/Code/unsupported`` for XOAUTH2 with a token that is not a bearer token;
    ///   ``BrokerClientError/Code/invalidParameter`` for XOAUTH2 without a mailbox.
    func text(_ result: JSONNode, readable: Bool, user: String? = nil) throws(BrokerClientError) -> String {
        switch self {
        case .raw: return try Self.visible("accessToken", of: result) + "\n"
        case .json: return JSONText.line(result, readable: readable)
        case .header: return "Authorization: \(try Self.visible("authorizationHeader", of: result))\n"
        case .env: return Self.environment(try Self.token(result))
        case .xoauth2: return try Self.xoauth2(try Self.token(result), user)
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
        return variables.map { "export \($0)=\(HandOver.shellWord($1.cleanWhole));\n" }.joined()
    }

    /// The SASL mechanism of Google's and Microsoft's mail servers. ^A terminates its parts, which therefore must not contain
    /// it.
    private static func xoauth2(_ token: Token, _ user: String?) throws(BrokerClientError) -> String {
        guard token.tokenType == .bearer else {
            throw BrokerClientError(.unsupported, "XOAUTH2 takes bearer tokens only; ask for one.")
        }
        let user = if let user { user } else { try mailbox(of: token.account) }
        guard user == user.clean else {
            throw BrokerClientError(
                .invalidResponse, "The mailbox's name has control characters, so it cannot be used for XOAUTH2.")
        }
        let text = "user=\(user)\u{1}auth=Bearer \(token.accessToken)\u{1}\u{1}"
        return base64Text(Array(text.utf8)) + "\n"
    }

    /// Without a username from the provider, the subject takes its place, which no mail server knows.
    private static func mailbox(of account: Account) throws(BrokerClientError) -> String {
        guard account.claims?["sub"]?.stringValue != account.username else {
            throw BrokerClientError(
                .invalidParameter,
                "The provider gave no username that could be a mailbox; name the mailbox with --user NAME@HOST, or for good with brokerctl apps edit --mailbox."
            )
        }
        return account.username
    }

    /// - Throws: ``BrokerClientError/Code/invalidResponse`` for anything but printable ASCII (VSCHAR), which could add to the
    ///   output more than a token.
    package static func requireVisible(_ token: String) throws(BrokerClientError) {
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw BrokerClientError(
                .invalidResponse,
                "The provider's token has characters that no token may have (RFC 6749, appendix A.12); it is not printed."
            )
        }
    }
}

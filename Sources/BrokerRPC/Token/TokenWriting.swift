import BrokerValues

/// A token's answer without its secrets, which never become a `String` in the broker.
package protocol TokenFacts {
    var tokenType: TokenType { get }
    var expiresOn: NumericDate { get }
    var extendedExpiresOn: NumericDate? { get }
    var scopes: [String] { get }
    /// The account, written.
    var writtenAccount: [UInt8] { get }
    var authority: String { get }
    var fromCache: Bool { get }
    var extendedLifetime: Bool { get }
    var persisted: Bool { get }
    var rejected: Bool { get }
}

extension Token: TokenFacts {
    package var writtenAccount: [UInt8] { account.written }
}

extension Account {
    package var written: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }
}

/// ``Token`` written member by member; a test holds it against the table of ``Token/members``.
extension JSONWriter {
    /// Opens the token's object; the secrets and ``endObject()`` must follow.
    package mutating func beginToken(_ facts: some TokenFacts, correlationID: String) {
        beginObject()
        key("tokenType")
        string(facts.tokenType.rawValue)
        key("expiresOn")
        integer(facts.expiresOn)
        if let extended = facts.extendedExpiresOn {
            key("extendedExpiresOn")
            integer(extended)
        }
        key("scopes")
        array { writer in for scope in facts.scopes { writer.string(scope) } }
        key("account")
        json(facts.writtenAccount)
        key("authority")
        string(facts.authority)
        key("correlationId")
        string(correlationID)
        key("fromCache")
        bool(facts.fromCache)
        key("extendedLifetime")
        bool(facts.extendedLifetime)
        key("persisted")
        bool(facts.persisted)
        if facts.rejected {
            key("rejected")
            bool(true)
        }
    }

    /// The access token, by itself and as the header's value.
    package mutating func accessToken(_ type: TokenType, _ bytes: UnsafeRawBufferPointer) {
        let prefix: StaticString =
            switch type {
            case .bearer: "Bearer "
            case .dpop: "DPoP "
            }
        strings("accessToken", "authorizationHeader", prefix: prefix, utf8: bytes)
    }

    package mutating func idToken(_ bytes: UnsafeRawBufferPointer) {
        key("idToken")
        string(utf8: bytes)
    }
}

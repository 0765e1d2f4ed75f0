import BrokerValues

/// A token's answer without its secrets, which never become a `String` in the broker.
package struct TokenFacts: Sendable {
    package var tokenType: TokenType
    package var expiresOn: NumericDate
    package var extendedExpiresOn: NumericDate?
    package var scopes: [String]
    package var account: Account
    package var authority: String
    package var correlationID: String
    package var fromCache: Bool
    package var extendedLifetime: Bool
    package var persisted: Bool

    package init(
        tokenType: TokenType, expiresOn: NumericDate, extendedExpiresOn: NumericDate?, scopes: [String],
        account: Account, authority: String, correlationID: String, fromCache: Bool, extendedLifetime: Bool,
        persisted: Bool
    ) {
        self.tokenType = tokenType
        self.expiresOn = expiresOn
        self.extendedExpiresOn = extendedExpiresOn
        self.scopes = scopes
        self.account = account
        self.authority = authority
        self.correlationID = correlationID
        self.fromCache = fromCache
        self.extendedLifetime = extendedLifetime
        self.persisted = persisted
    }
}

/// ``Token`` written member by member; a test holds it against the table of ``Token/members``.
extension JSONWriter {
    /// Opens the token's object; the secrets and ``endObject()`` must follow.
    package mutating func beginToken(_ facts: TokenFacts) {
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
        facts.account.write(to: &self)
        key("authority")
        string(facts.authority)
        key("correlationId")
        string(facts.correlationID)
        key("fromCache")
        bool(facts.fromCache)
        key("extendedLifetime")
        bool(facts.extendedLifetime)
        key("persisted")
        bool(facts.persisted)
    }

    /// The access token, by itself and as the header's value.
    package mutating func accessToken(_ type: TokenType, _ bytes: UnsafeRawBufferPointer) {
        key("accessToken")
        string(utf8: bytes)
        key("authorizationHeader")
        switch type {
        case .bearer: string(prefix: "Bearer ", utf8: bytes)
        case .dpop: string(prefix: "DPoP ", utf8: bytes)
        }
    }

    package mutating func idToken(_ bytes: UnsafeRawBufferPointer) {
        key("idToken")
        string(utf8: bytes)
    }
}

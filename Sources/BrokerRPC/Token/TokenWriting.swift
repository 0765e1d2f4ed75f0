import BrokerValues

/// A token's answer without its secrets, which never become a `String` in the broker.
package protocol TokenFacts {
    var tokenType: TokenType { get }
    var expiresOn: NumericDate { get }
    var extendedExpiresOn: NumericDate? { get }
    var scopes: [String] { get }
    /// ``lastingFacts``, serialized, if they are cached.
    var writtenFacts: [UInt8] { get }
    /// The account, serialized.
    var writtenAccount: [UInt8] { get }
    var authority: String { get }
    var fromCache: Bool { get }
    var extendedLifetime: Bool { get }
    var persisted: Bool { get }
    var rejected: Bool { get }
    var renewable: Bool { get }
}

extension TokenFacts {
    /// The members that are the same in every answer.
    package var lastingFacts: [UInt8] {
        var writer = JSONWriter()
        writer.key("tokenType")
        writer.string(tokenType.rawValue)
        writer.key("expiresOn")
        writer.integer(expiresOn)
        if let extendedExpiresOn {
            writer.key("extendedExpiresOn")
            writer.integer(extendedExpiresOn)
        }
        writer.key("scopes")
        writer.array { writer in for scope in scopes { writer.string(scope) } }
        writer.key("authority")
        writer.string(authority)
        return writer.bytes
    }
}

extension Token: TokenFacts {
    package var writtenFacts: [UInt8] { lastingFacts }
    package var writtenAccount: [UInt8] { account.written }
}

extension Account {
    package var written: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }
}

/// ``Token`` written member by member; a test compares it with the table of ``Token/members``.
extension JSONWriter {
    /// Opens the token's object; the secrets and ``endObject()`` must follow.
    package mutating func beginToken(_ facts: some TokenFacts, correlationID: String) {
        beginObject()
        json(facts.writtenFacts)
        key("account")
        json(facts.writtenAccount)
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
        if !facts.renewable {
            key("renewable")
            bool(false)
        }
    }

    /// The access token, as itself and as the header's value.
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

import BrokerValues

/// The `challenge` parameter: the value of a `WWW-Authenticate` header.
extension ResourceChallenge: WireValue {
    package static var schema: Schema { Schema(["type": "string", "maxLength": .integer(Int64(longest))]) }

    package init(reading node: JSONNode) throws(WireError) {
        let text = try String(reading: node)
        do throws(Unreadable) { self = try ResourceChallenge(text) } catch { throw WireError(error.problem) }
    }

    package func write(to writer: inout JSONWriter) { writer.string(text) }
}

extension Member {
    /// - Parameter path: leads to the query that it adds to.
    static func challenge(_ path: WritableKeyPath<Owner, ResourceChallenge?> & Sendable) -> Member {
        .optional(
            "challenge", path,
            """
            The WWW-Authenticate header with which an API refused a token, as received. Its requirements are added: \
            scopes, claims, and with an interactive request acr_values and max_age; a silent one is answered \
            interactionRequired with reason claimsChallenge if the person must authenticate again.
            """)
    }
}

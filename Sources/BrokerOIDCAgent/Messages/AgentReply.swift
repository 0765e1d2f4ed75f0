import BrokerValues

/// The answers in oidc-agent's format: one JSON object each.
package enum AgentReply {
    /// Writes a token.
    ///
    /// - Parameters:
    ///   - token: the bytes of the token, which the caller keeps. The writer has a copy, which ``JSONWriter/wipe()`` overwrites.
    ///   - expiresAt: seconds since 1970.
    package static func token(
        _ kind: AgentTokenRequest.Kind, _ token: UnsafeRawBufferPointer, issuer: String, expiresAt: Int64,
        to writer: inout JSONWriter
    ) {
        writer.beginObject()
        writer.key("status")
        writer.string("success")
        switch kind {
        case .access: writer.key("access_token")
        case .id: writer.key("id_token")
        }
        writer.string(utf8: token)
        writer.key("issuer")
        writer.string(issuer)
        writer.key("expires_at")
        writer.integer(expiresAt)
        writer.endObject()
    }

    /// Writes the names of apps.
    package static func names(_ names: [String], to writer: inout JSONWriter) {
        success(to: &writer) { writer in writer.array { writer in for name in names { writer.string(name) } } }
    }

    /// Writes a sentence, which the client shows.
    package static func done(_ text: String, to writer: inout JSONWriter) {
        success(to: &writer) { $0.string(text) }
    }

    package static func status(version: String, isLocked: Bool, apps: [String], to writer: inout JSONWriter) {
        success(to: &writer) { writer in
            writer.object { writer in
                writer.key("version")
                writer.string(version)
                writer.key("locked")
                writer.bool(isLocked)
                writer.key("loaded_accounts")
                writer.array { writer in for app in apps { writer.string(app) } }
            }
        }
    }

    package static func failure(_ failure: AgentFailure, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("status")
        writer.string("failure")
        writer.key("error")
        writer.string(failure.error)
        writer.key("info")
        writer.string(failure.info)
        writer.endObject()
    }

    private static func success(to writer: inout JSONWriter, info: (inout JSONWriter) -> Void) {
        writer.beginObject()
        writer.key("status")
        writer.string("success")
        writer.key("info")
        info(&writer)
        writer.endObject()
    }
}

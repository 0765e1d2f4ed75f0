import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// The answer to one JSON-RPC request (JSON-RPC 2.0, section 5). A notification has no id, and gets none.
struct JSONRPCReply: Reply {
    let id: RequestID?
    let vault: any RecordVault
    var writer: JSONWriter

    var isAwaited: Bool { id != nil }

    mutating func give(_ answer: Answer, correlationID: String) throws(BrokerError) {
        guard let id else { return }
        let start = writer.bytes.count
        writer.beginResult(id: id)
        do throws(BrokerError) { try write(answer, correlationID) } catch {
            writer.truncate(to: start)
            throw error
        }
        writer.endAnswer()
    }

    mutating func fail(_ error: BrokerError) { refuse(RPCError(error)) }

    mutating func refuse(_ error: RPCError) {
        if let id { writer.refuse(with: error, to: id) }
    }

    private mutating func write(_ answer: Answer, _ correlationID: String) throws(BrokerError) {
        switch answer {
        case .token(let token): try writer.token(token, correlationID: correlationID, from: vault)
        case .watch(let start):
            try writer.token(start.token, watch: start.name, correlationID: correlationID, from: vault)
        case .value(let value): value.write(to: &writer)
        case .json(let bytes): writer.json(bytes)
        }
    }
}

extension JSONWriter {
    /// Writes a token: its secrets go from guarded memory into the answer and nowhere else.
    ///
    /// - Throws: if a secret does not open; the text written until then stays.
    mutating func token(
        _ token: AcquiredToken, watch: String? = nil, correlationID: String, from vault: any RecordVault
    ) throws(BrokerError) {
        beginToken(token, correlationID: correlationID)
        if let watch {
            key("watch")
            string(watch)
        }
        do throws(VaultError) {
            try vault.withSecret(of: token.token.sealed) { accessToken(token.tokenType, $0) }
            if let idToken = token.idToken { try vault.withSecret(of: idToken) { self.idToken($0) } }
        } catch {
            throw BrokerError(error)
        }
        endObject()
    }
}

import BrokerValues

/// A request as a client sends it.
extension BrokerMethod {
    /// - Returns: the line, with its end.
    package static func requestLine(id: Int64, _ params: Params) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.key("jsonrpc")
        writer.string("2.0")
        writer.key("id")
        writer.integer(id)
        writer.key("method")
        writer.string(name)
        writer.key("params")
        params.write(to: &writer)
        writer.endObject()
        writer.endLine()
        return writer.bytes
    }
}

/// A line from the broker, as a client reads it.
package enum ServerLine: Sendable {
    /// `id` is nil when the broker could not make out which request it answers.
    case answer(id: RequestID?, Answer)
    /// The params are there to be read by the notification's definition: `InteractionOpen.Params(reading: params)`.
    case notification(method: String, params: JSONNode)

    /// JSON-RPC 2.0, section 5. No `Result`: what that is generic in is looked up for tenths of a millisecond, which is long for a
    /// program that asks once.
    package enum Answer: Sendable {
        case result(JSONNode)
        case error(RPCError)
    }

    package struct NotABrokerReply: Error, Sendable {}

    /// Reads a line, with or without its end. A client of this package sends no batches, so it gets none.
    package init(_ line: UnsafeRawBufferPointer) throws(NotABrokerReply) {
        guard let node = try? JSONReader.read(line), case .object(let members) = node else { throw NotABrokerReply() }
        if let method = node["method"] {
            guard case .string(let name) = method else { throw NotABrokerReply() }
            self = .notification(method: name, params: node["params"] ?? .object([]))
            return
        }
        let id = members.last { $0.name == "id" }.flatMap { RequestID($0, in: line) }
        if let result = node["result"] {
            self = .answer(id: id, .result(result))
        } else if let error = node["error"], let read = try? RPCError(reading: error) {
            self = .answer(id: id, .error(read))
        } else {
            throw NotABrokerReply()
        }
    }
}

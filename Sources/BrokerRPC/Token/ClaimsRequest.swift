import BrokerValues

/// The `claims` parameter: JSON text of an object, given as such, as the object itself, or in base64 as a resource
/// server puts it into `WWW-Authenticate`.
package struct ClaimsRequest: WireValue, Equatable {
    package let json: String

    /// - Parameter json: the text of a JSON object, also in base64; the broker refuses anything else.
    package init(json: String) { self.json = json }

    package static var schema: Schema {
        Schema(["oneOf": [["type": "object"], ["type": "string", "contentMediaType": "application/json"]]])
    }

    package init(reading node: JSONNode) throws(WireError) {
        switch node {
        case .object:
            var writer = JSONWriter()
            writer.value(node.value, sorted: true)
            json = String(decoding: writer.bytes, as: UTF8.self)
        case .string(let text):
            guard let json = ClaimsText.object(in: text) else {
                throw WireError("must be a JSON object, or the text of one, as it is or in base64")
            }
            self.json = json
        default: throw .expected("an object or its JSON text", not: node)
        }
        guard json.utf8.count <= 65_536 else { throw WireError("must have at most 65536 bytes") }
    }

    package func write(to writer: inout JSONWriter) { writer.string(json) }
}

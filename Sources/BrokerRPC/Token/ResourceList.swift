import BrokerValues

/// The `resource` parameter (RFC 8707, section 2): one absolute URI, or several.
package struct ResourceList: WireValue, Equatable {
    package let uris: [String]

    package init(_ uris: [String]) { self.uris = uris }

    private static let rule = Rule<[String]>.each(.resource, atMost: 16)

    package static var schema: Schema {
        let one = ["type": "string"].merging(Rule<String>.resource.schema) { $1 }
        let several = ["type": "array"].merging(rule.schema) { $1 }
        return Schema(["oneOf": [.object(one), .object(several)]])
    }

    package init(reading node: JSONNode) throws(WireError) {
        switch node {
        case .string(let uri):
            try Rule<String>.resource.check(uri)
            uris = [uri]
        case .array:
            uris = try [String](reading: node)
            try Self.rule.check(uris)
        default: throw .expected("a URI or an array of them", not: node)
        }
    }

    package func write(to writer: inout JSONWriter) {
        if uris.count == 1 { writer.string(uris[0]) } else { uris.write(to: &writer) }
    }
}

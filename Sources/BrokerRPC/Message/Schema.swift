import BrokerValues

/// A JSON Schema (draft 7, as OpenRPC 1.3 uses it) together with the named schemas it refers to.
package struct Schema: Sendable {
    package var json: JSONObject
    package var components: [String: JSONValue]

    package init(_ json: JSONObject, components: [String: JSONValue] = [:]) {
        self.json = json
        self.components = components
    }

    static func array(of element: Schema) -> Schema {
        Schema(["type": "array", "items": .object(element.json)], components: element.components)
    }

    static func map(of element: Schema) -> Schema {
        Schema(
            ["type": "object", "additionalProperties": .object(element.json)], components: element.components)
    }

    static func choice(_ values: [String]) -> Schema {
        Schema(["type": "string", "enum": .array(values.map(JSONValue.string))])
    }

    /// The schema under a name of its own, for references.
    func named(_ name: String) -> Schema {
        var all = components
        all[name] = .object(json)
        return Schema(["$ref": .string("#/components/schemas/\(name)")], components: all)
    }

    func orNull() -> Schema {
        Schema(["oneOf": [.object(json), ["type": "null"]]], components: components)
    }

    func adding(_ more: JSONObject) -> Schema {
        guard !more.isEmpty else { return self }
        if json["$ref"] != nil {
            // Draft 7 ignores everything else next to a reference.
            return Schema(["allOf": [.object(json)]].merging(more) { $1 }, components: components)
        }
        return Schema(json.merging(more) { $1 }, components: components)
    }
}

import BrokerValues

/// JSON Schema of values that more than one key has.
enum ValueSchema {
    static let command = words(atLeast: 1)

    static func words(atLeast least: Int64 = 0) -> JSONObject {
        ["type": "array", "items": ["type": "string"], "minItems": .integer(least)]
    }

    static func choice(_ choices: [String]) -> JSONObject {
        ["type": "string", "enum": .array(choices.map { .string($0) })]
    }
}

import BrokerModel
import BrokerValues

/// The configuration as JSON Schema (draft 7), for editors: docs/config.schema.json and docs/apps.schema.json.
///
/// Only the daemon checks what a schema cannot express: that a file exists, that two tables agree.
package enum ConfigurationSchema {
    /// - Parameter keySources: the available ones.
    package static func settings(keySources: [String]) -> JSONValue {
        var tables: [String: JSONObject] = [:]
        for setting in Setting.all {
            let parts = setting.name.split(separator: ".", maxSplits: 1).map(String.init)
            tables[parts[0], default: [:]][parts[1]] = setting.schema(keySources: keySources)
        }
        tables["doors", default: [:]]["oidc_agent_accounts"] = [
            "type": "object", "description": .string(AccountTable.summary),
            "additionalProperties": ["type": "string", "minLength": 1],
        ]
        var properties = tables.mapValues(table)
        properties["browser"] = properties["browser"].map { table in
            let words: JSONValue = ["type": "string", "description": "A command, as $BROWSER has it."]
            return ["anyOf": .array([words, .object(ValueSchema.command), table])]
        }
        properties["provider"] = [
            "type": "object",
            "description": "Settings of providers, by issuer or host: [provider.\"https://id.example\"].",
            "additionalProperties": table(
                JSONObject(uniqueKeysWithValues: ProviderSetting.all.map { ($0.name, $0.schema) })),
        ]
        properties["sandbox"] = [
            "type": "object",
            "description": "Sandboxes that have a socket as long as the broker runs: [sandbox.NAME].",
            "additionalProperties": adding(
                ["required": ["engine"]], to: table(TableKey<Sandbox>.schema(of: TableKey<Sandbox>.all))),
        ]
        return document("The configuration of brokerd", table(properties))
    }

    /// The schema of a file in `apps.d`.
    package static var apps: JSONValue {
        let app = adding(
            ["required": ["client_id", "authority"]],
            to: table(TableKey<AppFileEntry>.schema(of: TableKey<AppFileEntry>.all)))
        return document("Apps for brokerd", ["type": "object", "additionalProperties": app])
    }

    private static func document(_ title: String, _ schema: JSONValue) -> JSONValue {
        adding(["$schema": "http://json-schema.org/draft-07/schema#", "title": .string(title)], to: schema)
    }

    private static func table(_ properties: JSONObject) -> JSONValue {
        ["type": "object", "properties": .object(properties), "additionalProperties": false]
    }

    private static func adding(_ more: JSONObject, to schema: JSONValue) -> JSONValue {
        .object((schema.objectValue ?? [:]).merging(more) { $1 })
    }
}

extension Setting {
    fileprivate func schema(keySources: [String]) -> JSONValue {
        var schema = kind.schema(keySources: keySources)
        schema["description"] = .string(summary)
        if defaultNote == nil { schema["default"] = kind.standard }
        return .object(schema)
    }
}

extension Setting.Kind {
    fileprivate func schema(keySources: [String]) -> JSONObject {
        switch self {
        case .boolean: ["type": "boolean"]
        case .integer(_, let range, _):
            [
                "type": "integer", "minimum": .integer(Int64(range.lowerBound)),
                "maximum": .integer(Int64(range.upperBound)),
            ]
        case .choice(_, let choices): ValueSchema.choice(choices)
        case .keySources:
            [
                "anyOf": .array([
                    .object(ValueSchema.choice(keySources)),
                    [
                        "type": "array", "items": .object(ValueSchema.choice(keySources)), "minItems": 1,
                        "uniqueItems": true,
                    ],
                ])
            ]
        case .path: ["type": "string", "pattern": "^(/|~/)"]
        case .pathOrOff: ["type": "string", "pattern": "^(/|~/|off$)"]
        case .command: ValueSchema.command
        }
    }

    /// The default, where JSON has a value for it.
    fileprivate var standard: JSONValue? {
        let standard = BrokerConfiguration()
        return switch self {
        case .boolean(let field): .bool(standard[keyPath: field])
        case .integer(let field, _, _): .integer(Int64(standard[keyPath: field]))
        case .choice(let field, _): .string(standard[keyPath: field])
        case .keySources, .path, .pathOrOff, .command: nil
        }
    }
}

extension ProviderSetting {
    fileprivate var schema: JSONValue {
        var schema: JSONObject =
            switch kind {
            case .providerKind: ValueSchema.choice(ProviderKind.allCases.map(\.rawValue))
            case .endpoint: ["type": "string", "pattern": "^https?://"]
            case .choice(let choices): ValueSchema.choice(choices)
            case .offlineAccess: ["type": "boolean"]
            case .clouds: ValueSchema.words()
            }
        schema["description"] = .string(summary)
        return .object(schema)
    }
}

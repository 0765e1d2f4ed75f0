import BrokerValues

/// One key of a table that describes a named thing: an app, a sandbox.
struct TableKey<Owner: Sendable>: Sendable {
    let name: String
    let summary: String
    /// JSON Schema of its value.
    let type: JSONObject
    let assign: @Sendable (SettingValue, inout Owner) throws(SettingRefusal) -> Void

    static func text(
        _ name: String, _ path: WritableKeyPath<Owner, String> & Sendable, _ summary: String
    ) -> TableKey {
        text(name, summary) { text, owner in owner[keyPath: path] = text }
    }

    static func optional(
        _ name: String, _ path: WritableKeyPath<Owner, String?> & Sendable, _ summary: String
    ) -> TableKey {
        text(name, summary) { text, owner in owner[keyPath: path] = text }
    }

    private static func text(
        _ name: String, _ summary: String, _ assign: @escaping @Sendable (String, inout Owner) -> Void
    ) -> TableKey {
        TableKey(name: name, summary: summary, type: ["type": "string"]) { value, owner throws(SettingRefusal) in
            guard case .string(let text) = value else { throw .wrongType(value, instead: "a string") }
            assign(text, &owner)
        }
    }

    static func boolean(
        _ name: String, _ path: WritableKeyPath<Owner, Bool> & Sendable, _ summary: String
    ) -> TableKey {
        TableKey(name: name, summary: summary, type: ["type": "boolean"]) { value, owner throws(SettingRefusal) in
            guard case .boolean(let flag) = value else { throw .wrongType(value, instead: "a boolean") }
            owner[keyPath: path] = flag
        }
    }

    static func optional(
        _ name: String, _ path: WritableKeyPath<Owner, Bool?> & Sendable, _ summary: String
    ) -> TableKey {
        TableKey(name: name, summary: summary, type: ["type": "boolean"]) { value, owner throws(SettingRefusal) in
            guard case .boolean(let flag) = value else { throw .wrongType(value, instead: "a boolean") }
            owner[keyPath: path] = flag
        }
    }

    static func words(
        _ name: String, _ path: WritableKeyPath<Owner, [String]> & Sendable, _ summary: String
    ) -> TableKey {
        words(name, summary) { words, owner in owner[keyPath: path] = words }
    }

    static func words(
        _ name: String, _ path: WritableKeyPath<Owner, [String]?> & Sendable, _ summary: String
    ) -> TableKey {
        words(name, summary) { words, owner in owner[keyPath: path] = words }
    }

    static func words(
        _ name: String, _ summary: String, type: JSONObject = ValueSchema.words(),
        _ assign: @escaping @Sendable ([String], inout Owner) throws(SettingRefusal) -> Void
    ) -> TableKey {
        TableKey(name: name, summary: summary, type: type) { value, owner throws(SettingRefusal) in
            guard case .words(let words) = value else { throw .wrongType(value, instead: "an array of strings") }
            try assign(words, &owner)
        }
    }

    /// - Parameter what: for example “an app”.
    static func assign(
        _ value: SettingValue, to name: String, of what: String, among all: [TableKey],
        at origin: ConfigurationOrigin, _ owner: inout Owner
    ) throws(ConfigurationError) {
        guard let key = all.first(where: { $0.name == name }) else {
            let hint = Spelling.hint(for: name, among: all.map(\.name))
            throw ConfigurationError(.unknownKey, "there is no key \(name) of \(what)\(hint)", at: origin)
        }
        do {
            try key.assign(value, &owner)
        } catch {
            throw ConfigurationError(error.code, "\(key.name): \(error.text)", at: origin)
        }
    }

    static func schema(of all: [TableKey]) -> JSONObject {
        JSONObject(
            uniqueKeysWithValues: all.map { key in
                (key.name, .object(key.type.merging(["description": .string(key.summary)]) { $1 }))
            })
    }

    /// In Markdown.
    static func documentation(of all: [TableKey]) -> String {
        (["| Key | Meaning |", "|---|---|"] + all.map { "| `\($0.name)` | \($0.summary) |" })
            .joined(separator: "\n")
    }
}

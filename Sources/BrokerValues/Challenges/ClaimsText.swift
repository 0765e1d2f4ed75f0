/// Claims as apps and resource servers write them: the text of a JSON object, plain or in base64 of either alphabet.
package enum ClaimsText {
    /// The claims in a text.
    ///
    /// - Returns: the JSON; `nil` if it is not an object.
    package static func object(in text: String) -> String? {
        if isObject(text) { return text }
        guard let decoded = bytesOfAnyBase64(text).flatMap({ String(validating: $0, as: UTF8.self) }), isObject(decoded)
        else { return nil }
        return decoded
    }

    /// Merges two claims requests. The second takes precedence.
    package static func merged(_ first: String?, _ second: String?) -> String? {
        guard let second else { return first }
        guard let first, let one = JSONObject(json: first.utf8), let other = JSONObject(json: second.utf8) else {
            return second
        }
        return String(decoding: merged(one, other, depth: 0).json, as: UTF8.self)
    }

    private static func merged(_ first: JSONObject, _ second: JSONObject, depth: Int) -> JSONObject {
        var all = first
        for (name, value) in second {
            if depth < 2, let one = all[name]?.objectValue, let other = value.objectValue {
                all[name] = .object(merged(one, other, depth: depth + 1))
            } else {
                all[name] = value
            }
        }
        return all
    }

    private static func isObject(_ text: String) -> Bool {
        if case .object? = try? JSONReader.read(text.utf8) { true } else { false }
    }
}

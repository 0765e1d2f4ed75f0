import BrokerValues

/// Values as a TOML file would have them.
enum TOMLText {
    /// An array of strings; empty for none.
    static func quoted(_ words: [String]) -> String {
        guard !words.isEmpty else { return "" }
        return "[" + words.map(quoted).joined(separator: ", ") + "]"
    }

    /// A string, or a quoted key, which may contain any character.
    static func quoted(_ text: String) -> String {
        "\"" + text.replacing(scalar: "\\", with: "\\\\").replacing(scalar: "\"", with: "\\\"") + "\""
    }
}

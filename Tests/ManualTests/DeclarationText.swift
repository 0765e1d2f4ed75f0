import BrokerCommandLine
import BrokerCommands

/// A declaration as text of a manual page.
extension Declaration {
    /// For a list of options: `--scope <scope>`.
    var term: String {
        guard !words.isEmpty else { return "`\(placeholder)`" }
        let names = words.map { "`\($0)`" }.joined(separator: ", ")
        return placeholder.isEmpty ? names : "\(names) \(placeholder)"
    }

    /// For a synopsis: `[--scope <scope> ...]`.
    var usage: String {
        let name = words.suffix(kind == .choice ? 2 : 1).map { "`\($0)`" }.joined(separator: "|")
        let text = [kind == .rest ? "--" : "", name, placeholder, isRepeated ? "..." : ""].filter { !$0.isEmpty }
            .joined(separator: " ")
        return isRequired || kind == .rest ? text : "[\(text)]"
    }

    var text: String { [summary, details].filter { !$0.isEmpty }.joined(separator: " ") }
}

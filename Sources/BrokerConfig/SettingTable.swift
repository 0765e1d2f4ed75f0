extension Setting {
    /// The table of docs/configuration.md, in Markdown; a test compares the two.
    package static var documentation: String {
        let head = [
            "| Setting | Value | Default | Flag, variable | Takes effect | What it does |",
            "|---|---|---|---|---|---|",
        ]
        let defaults = BrokerConfiguration()
        return (head + all.map { $0.row(defaults) }).joined(separator: "\n")
    }

    private func row(_ defaults: BrokerConfiguration) -> String {
        let sources = [flag, environment.map { "$" + $0 }].compactMap { $0.map { "`\($0)`" } }.joined(separator: ", ")
        let when = takesEffect == .reload ? "on reload" : "after a restart"
        let value = defaultNote ?? "`\(kind.text(in: defaults))`"
        return "| `\(name)` | \(kind.documentation) | \(value) | \(sources) | \(when) | \(summary) |"
    }
}

extension Setting.Kind {
    fileprivate var documentation: String {
        switch self {
        case .boolean: "`true` or `false`"
        case .integer(_, let range, let unit):
            "\(range.lowerBound) to \(range.upperBound)" + (unit == "s" ? " seconds" : unit == "%" ? " percent" : "")
        case .choice(_, let choices): choices.map { "`\($0)`" }.joined(separator: ", ")
        case .keySources: "name of a key source, or array of names"
        case .path: "path"
        case .command: "array of words"
        }
    }
}

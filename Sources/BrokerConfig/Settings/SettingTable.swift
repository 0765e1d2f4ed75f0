extension Setting {
    /// The table of docs/configuration.md, in Markdown; a test compares the two.
    package static var documentation: String {
        let head = [
            "| Setting | Value | Default | Flag, variable | Takes effect | What it does |",
            "|---|---|---|---|---|---|",
        ]
        return (head + all.map(\.row)).joined(separator: "\n")
    }

    /// The default.
    package var standard: String { defaultNote ?? "`\(kind.text(in: BrokerConfiguration()))`" }

    private var row: String {
        let sources = [flag, environment.map { "$" + $0 }].compactMap { $0.map { "`\($0)`" } }.joined(separator: ", ")
        let when = takesEffect == .reload ? "on reload" : "after a restart"
        return "| `\(name)` | \(kind.documentation) | \(standard) | \(sources) | \(when) | \(summary) |"
    }
}

extension Setting.Kind {
    static func words(_ unit: String?) -> String {
        switch unit {
        case nil: ""
        case "s": " seconds"
        case "%": " percent"
        case let unit?: " " + unit
        }
    }

    package var documentation: String {
        switch self {
        case .boolean: "`true` or `false`"
        case .integer(_, let range, let unit):
            "\(range.lowerBound) to \(range.upperBound)" + Self.words(unit)
        case .choice(_, let choices): choices.map { "`\($0)`" }.joined(separator: ", ")
        case .keySources: "name of a key source, or array of names"
        case .path: "path"
        case .pathOrOff: "path, or `off`"
        case .command: "array of words"
        }
    }
}

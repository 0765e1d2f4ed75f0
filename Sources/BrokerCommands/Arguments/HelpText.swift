/// The help of a command.
package struct HelpText {
    private let path: CommandPath
    private let layout: Layout
    /// The column of the texts next to names; below the names if lines are short.
    private let margin: Int

    /// - Parameter columns: examples may be longer, because text to copy must stay whole.
    package init(_ path: CommandPath, columns: Int) {
        self.path = path
        layout = Layout(columns: columns)
        margin = columns < 60 ? 6 : 26
    }

    package var text: String {
        let (about, declarations) = (path.last.about, path.last.declarations)
        var parts = ["OVERVIEW: \(about.abstract)", about.discussion, "USAGE: \(usage)"]
        parts.append(list("ARGUMENTS:", declarations.filter(\.isPositional)))
        parts.append(list("OPTIONS:", declarations.filter { !$0.isPositional } + Declaration.standard))
        let subcommands = path.last.subcommands.map { item($0.about.name, $0.about.abstract) }
        if !subcommands.isEmpty {
            parts.append("SUBCOMMANDS:\n" + subcommands.joined(separator: "\n"))
            let help = [path.names[0], "help"] + path.names.dropFirst() + ["<subcommand>"]
            parts.append("Run '\(help.joined(separator: " "))' for details.")
        }
        return parts.filter { !$0.isEmpty }.map(prose).joined(separator: "\n\n")
    }

    /// One line, shown after a usage error.
    package var usage: String {
        guard path.last.subcommands.isEmpty else { return "\(path.text) [<options>] <subcommand>" }
        let declarations = path.last.declarations
        // A longer list is harder to read.
        let options = declarations.filter { !$0.isPositional && !$0.isRequired }
        let shown = options.count > 10 ? ["[<options>]"] : options.map(Self.usage)
        let others = declarations.filter { $0.isPositional || $0.isRequired }.map(Self.usage)
        return ([path.text] + shown + others).joined(separator: " ")
    }

    private static func usage(_ declaration: Declaration) -> String {
        let name = declaration.words.suffix(declaration.kind == .choice ? 2 : 1).joined(separator: "|")
        let words = [
            declaration.kind == .rest ? "--" : name, declaration.placeholder, declaration.isRepeated ? "..." : "",
        ]
        let text = words.filter { !$0.isEmpty }.joined(separator: " ")
        return declaration.isRequired || declaration.kind == .rest ? text : "[\(text)]"
    }

    private func list(_ title: String, _ declarations: [Declaration]) -> String {
        let items = declarations.map { declaration in
            let name = [declaration.words.joined(separator: ", "), declaration.placeholder].filter { !$0.isEmpty }
            let text = [declaration.summary, declaration.details].filter { !$0.isEmpty }
            return item(name.joined(separator: " "), text.joined(separator: " "))
        }
        return items.isEmpty ? "" : title + "\n" + items.joined(separator: "\n")
    }

    /// A name, with its text next to or below it.
    private func item(_ name: String, _ text: String) -> String {
        let name = "  " + name
        let lines = layout.prose("".padded(to: margin) + text)
        guard name.columns < margin else { return name + "\n" + lines }
        return name + lines.dropFirst(name.columns)
    }

    /// Indented lines stay as they are.
    private func prose(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(" ") ? String($0) : layout.prose(String($0)) }.joined(separator: "\n")
    }
}

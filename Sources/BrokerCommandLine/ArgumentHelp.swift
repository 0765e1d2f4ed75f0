/// The parts of a help text that are made from declarations.
package struct ArgumentHelp {
    private let layout: Layout
    /// The column of the texts next to names; in short lines they are below the names.
    private let margin: Int

    /// - Parameter columns: the width of the text. Examples may be longer, because text to copy must stay whole.
    package init(columns: Int) {
        layout = Layout(columns: columns)
        margin = columns < 60 ? 6 : 26
    }

    /// The command with its options and arguments, on one line.
    package static func usage(_ command: String, _ declarations: [Declaration]) -> String {
        // A longer list is harder to read.
        let options = declarations.filter { !$0.isPositional && !$0.isRequired }
        let shown = options.count > 10 ? ["[<options>]"] : options.map(usage)
        let others = declarations.filter { $0.isPositional || $0.isRequired }.map(usage)
        return ([command] + shown + others).joined(separator: " ")
    }

    private static func usage(_ declaration: Declaration) -> String {
        let name = declaration.words.suffix(declaration.kind == .choice ? 2 : 1).joined(separator: "|")
        let words = [
            declaration.kind == .rest ? "--" : name, declaration.placeholder, declaration.isRepeated ? "..." : "",
        ]
        let text = words.filter { !$0.isEmpty }.joined(separator: " ")
        return declaration.isRequired || declaration.kind == .rest ? text : "[\(text)]"
    }

    package func list(_ title: String, _ declarations: [Declaration]) -> String {
        let items = declarations.map { declaration in
            let name = [declaration.words.joined(separator: ", "), declaration.placeholder].filter { !$0.isEmpty }
            let text = [declaration.summary, declaration.details].filter { !$0.isEmpty }
            return item(name.joined(separator: " "), text.joined(separator: " "))
        }
        return items.isEmpty ? "" : title + "\n" + items.joined(separator: "\n")
    }

    /// A name, with its text next to or below it.
    package func item(_ name: String, _ text: String) -> String {
        let name = "  " + name
        let lines = layout.prose("".padded(to: margin) + text)
        guard name.columns < margin else { return name + "\n" + lines }
        return name + lines.dropFirst(name.columns)
    }

    /// Wraps a text at the width. Indented lines stay as they are.
    package func prose(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(" ") ? String($0) : layout.prose(String($0)) }.joined(separator: "\n")
    }
}

import BrokerCommandLine

/// The help of a command.
package struct HelpText {
    private let path: CommandPath
    private let help: ArgumentHelp

    /// - Parameter columns: examples may be longer, because text to copy must stay whole.
    package init(_ path: CommandPath, columns: Int) {
        self.path = path
        help = ArgumentHelp(columns: columns)
    }

    package var text: String {
        let (about, declarations) = (path.last.about, path.last.declarations)
        var parts = ["OVERVIEW: \(about.abstract)", about.discussion, "USAGE: \(usage)"]
        parts.append(help.list("ARGUMENTS:", declarations.filter(\.isPositional)))
        parts.append(help.list("OPTIONS:", declarations.filter { !$0.isPositional } + Declaration.standard))
        let subcommands = path.last.subcommands.map { help.item($0.about.name, $0.about.abstract) }
        if !subcommands.isEmpty {
            parts.append("SUBCOMMANDS:\n" + subcommands.joined(separator: "\n"))
            let words = [path.names[0], "help"] + path.names.dropFirst() + ["<subcommand>"]
            parts.append("Run '\(words.joined(separator: " "))' for details.")
        }
        return parts.filter { !$0.isEmpty }.map(help.prose).joined(separator: "\n\n")
    }

    /// One line, shown after a usage error.
    package var usage: String {
        guard path.last.subcommands.isEmpty else { return "\(path.text) [<options>] <subcommand>" }
        return ArgumentHelp.usage(path.text, path.last.declarations)
    }
}

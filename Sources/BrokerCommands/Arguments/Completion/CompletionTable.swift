import BrokerCommandLine

/// The completions for shells: every command with the words that lead to it.
struct CompletionTable {
    struct Row {
        /// `brokerctl accounts list`
        let path: String
        let subcommands: [About]
        let options: [Declaration]
        /// Declarations of the arguments; most offer no completions.
        let arguments: [Declaration]
    }

    private(set) var rows: [Row] = []

    init(_ root: any Command.Type) { add(CommandPath([root])) }

    private mutating func add(_ path: CommandPath) {
        let declarations = path.last.declarations
        rows.append(
            Row(
                path: path.text, subcommands: path.last.subcommands.map { $0.about },
                options: declarations.filter { !$0.isPositional } + Declaration.standard,
                arguments: declarations.filter { $0.isPositional && $0.offer != Completion.none }))
        for subcommand in path.last.subcommands {
            var longer = path
            longer.append(subcommand)
            add(longer)
        }
    }

    /// The words that lead to a command below the root, as patterns of a shell's `case`.
    var paths: String { rows.dropFirst().map { "'\($0.path)'" }.joined(separator: "|") }

    /// Completions of option values, as arms of a shell's `case` on path and option.
    ///
    /// - Parameter action: the shell code for a kind of value.
    func arms(_ action: (Completion) -> String) -> String {
        var arms: [(action: String, patterns: [String])] = []
        for row in rows {
            for option in row.options where option.takesValue {
                let (action, patterns) = (action(option.offer), option.words.map { "'\(row.path) \($0)'" })
                if let place = arms.firstIndex(where: { $0.action == action }) {
                    arms[place].patterns += patterns
                } else {
                    arms.append((action, patterns))
                }
            }
        }
        return arms.map { "        \($0.patterns.joined(separator: "|"))) \($0.action) return ;;\n" }.joined()
    }
}

extension Declaration {
    var offer: Completion { values.isEmpty ? completion : .words(values) }

    /// A short description, without quotation marks, of each value that needs one.
    var meanings: [String: String] { type?.meanings ?? [:] }
}

extension Completion {
    var isList: Bool {
        switch self {
        case .words, .output: true
        case .none, .files: false
        }
    }
}

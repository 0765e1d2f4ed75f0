/// The output of `brokerd --help`, in 80 columns.
package enum DaemonHelp {
    package static let about =
        "Owns the OAuth tokens of its user, or of every user, and hands out access tokens over a Unix socket."

    package static let discussion = """
        It stays in the foreground and logs to stderr, or to the journal when that is its stderr. Usually systemd starts it: \
        systemctl --user enable --now brokerd.socket.

        Exit status: 0 after SIGTERM, 1 when the socket cannot be bound, 2 for usage or configuration, 4 when the vault or its \
        key cannot be opened.
        """

    package static var text: String {
        let paragraphs = ([about] + discussion.split(separator: "\n").map(String.init)).map {
            lines($0.split(separator: " ").map(String.init), width: width).joined(separator: "\n")
        }
        let usage = "Usage: brokerd "
        let terms = lines(DaemonOption.allCases.map { "[\(term($0))]" }, width: width - usage.count)
        let indented = terms.joined(separator: "\n" + spaces(usage.count))
        return (paragraphs + [usage + indented, DaemonOption.allCases.map(row).joined(separator: "\n")])
            .joined(separator: "\n\n")
    }

    private static let width = 79
    /// The column of an option's description, which moves to the next line if the name is longer.
    private static let column = 28

    private static func row(_ option: DaemonOption) -> String {
        let name = (option == .help ? "  -h, " : "  ") + term(option)
        let summary = lines(option.summary.split(separator: " ").map(String.init), width: width - column)
        let gap = name.count < column ? spaces(column - name.count) : "\n" + spaces(column)
        return name + gap + summary.joined(separator: "\n" + spaces(column))
    }

    private static func term(_ option: DaemonOption) -> String {
        option.takesValue ? "\(option.word) <\(option.rawValue)>" : option.word
    }

    private static func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }

    private static func lines(_ words: [String], width: Int) -> [String] {
        words.reduce(into: []) { lines, word in
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(word)
            }
        }
    }
}

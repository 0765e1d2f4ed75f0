import BrokerCommandLine
import Glibc

extension Layout {
    /// Uses the terminal's current width, because windows change.
    static func of(_ stream: StandardStream) -> Layout {
        Layout(columns: stream.terminalSize?.columns, style: .of(stream))
    }

    /// A command line for copying, indented; a shell reads its lines as one.
    package func command(_ words: [String]) -> String {
        var lines = [" "]
        for word in words.map({ ShellText.quoted($0.cleanWhole) }) {
            // Leaves room for the continuation mark.
            if let columns, lines.count > 1 || lines[0] != " ", (lines.last ?? "").columns + word.columns + 3 > columns
            {
                lines.append("   ")
            }
            lines[lines.count - 1] += " " + word
        }
        return lines.joined(separator: " \\\n")
    }
}

extension Style {
    static func of(_ stream: StandardStream) -> Style {
        func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
        return Style(isOn: stream.isTerminal && variable("NO_COLOR").isEmpty && variable("TERM") != "dumb")
    }
}

import BrokerValues

/// The person's program on the far side, with `BROKER_SOCKET` and the like set: a command, as ssh takes one from its arguments, or a login shell.
package struct RemoteProgram: Sendable {
    /// Joined by blanks, as ssh does it.
    private let text: String

    package init(_ words: [String]) { text = words.joined(separator: " ") }

    /// As with ssh, nothing in several words is no command, either.
    package var isLogin: Bool { text.isEmpty }

    /// The login shell reads twice: here words and nothing else, then the command, as sshd would hand it over. csh and the others
    /// agree on no way to write a line's end between quotes, so each line goes as a word, and `sh` joins them.
    ///
    /// - Parameter variables: at most nine.
    package func line(_ variables: [(name: String, value: String)]) -> String {
        let assignments = variables.enumerated().map { "\($1.name)=$\($0 + 1);export \($1.name);" }.joined()
        let script = """
            \(assignments)shift \(variables.count);[ $# -gt 0 ]||exec "${SHELL:-/bin/sh}" -l;\
            n=$(echo;echo x);n=${n%x};c=$1;shift;for l do c=$c$n$l;done;exec "${SHELL:-/bin/sh}" -c "$c"
            """
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let words = isLogin ? [] : lines.map { String(Substring($0)) }
        return Self.line(["sh", "-c", script, "sh"] + variables.map(\.value) + words)
    }

    static func line(_ words: [String]) -> String { words.map(ShellText.quoted).joined(separator: " ") }
}

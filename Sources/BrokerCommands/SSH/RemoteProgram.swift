import BrokerValues

/// The user's remote program, with `BROKER_SOCKET` and the like set: a command, as in ssh's arguments, or a login shell.
package struct RemoteProgram: Sendable {
    /// Joined by blanks, as in ssh.
    private let text: String

    package init(_ words: [String]) { text = words.joined(separator: " ") }

    /// As in ssh, several empty words are no command, either.
    package var isLogin: Bool { text.isEmpty }

    /// The login shell reads twice: first only words, then the command, as sshd would pass it. csh and other shells quote a
    /// newline differently, so each line is a word, and `sh` joins them.
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

import BrokerValues

/// The person's program on the far side, with `BROKER_SOCKET` set: a command, as ssh takes one from its arguments, or a login shell.
package struct FarCommand: Sendable {
    /// Joined by blanks, as ssh does it.
    private let text: String

    package init(_ words: [String]) { text = words.joined(separator: " ") }

    /// As with ssh, nothing in several words is no command, either.
    package var isLogin: Bool { text.isEmpty }

    /// The login shell reads twice: here words and nothing else, then the command, as sshd would hand it over. csh and the others
    /// agree on no way to write a line's end between quotes, so each line goes as a word, and `sh` joins them.
    package func line(socket: String) -> String {
        let script = """
            BROKER_SOCKET=$1;export BROKER_SOCKET;shift;[ $# -gt 0 ]||exec "${SHELL:-/bin/sh}" -l;\
            n=$(echo;echo x);n=${n%x};c=$1;shift;for l do c=$c$n$l;done;exec "${SHELL:-/bin/sh}" -c "$c"
            """
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return Self.line(["sh", "-c", script, "sh", socket] + (isLogin ? [] : lines.map { String(Substring($0)) }))
    }

    static func line(_ words: [String]) -> String { words.map(ShellText.quoted).joined(separator: " ") }
}

import BrokerCommands
import BrokerTestSupport
import Foundation
import Testing

/// Output for shells, read by each of them: scripts read `--format env`, people paste commands.
@Suite("Words for shells")
struct ShellTextTests {
    /// As scripts, and also as on a terminal for shells with history expansion (`!`).
    static let shells = [
        ["sh"], ["bash"], ["dash"], ["zsh", "-f"], ["fish", "--no-config"], ["bash", "--norc", "--noprofile", "-i"],
        ["zsh", "-f", "-i"], ["zsh", "-f", "-o", "rcquotes"], ["mksh"],
    ]

    private static let pairs: [String] = {
        let letters = (0x20...0x7e as ClosedRange<UInt8>).map { String(UnicodeScalar($0)) }
        return letters + letters.flatMap { first in letters.map { first + $0 } }
    }()

    private static let others = [
        "", "a b", "it's", "$(id)", "marked'\u{301}; echo pwned '\u{301}", "`id`", #"'''"#, #"\\\'\'"#,
        #"'\''; echo pwned; '\''"#, #"\'; echo pwned #"#, "-n", "~root", "=ls", "!!", "!-1", "%self", "é雪",
    ]

    /// The lines are on standard input, as on a terminal.
    /// csh has a different syntax for variables, but the same words.
    static let alsoCsh = shells + [["tcsh", "-f"]]

    private func run(_ lines: [String], by shell: [String], in bed: TestBed) async throws -> CommandResult {
        let file = bed.path(bed.unique("lines"))
        try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: file))
        let command = "cat \"$0\" | env HOME=\(bed.directory.path) HISTFILE= \"$@\""
        return try await bed.run(Launch("sh", ["-c", command, file] + shell))
    }

    @Test("every shell reads every pair of characters as the same single word", arguments: alsoCsh)
    func pairs(shell: [String]) async throws {
        try await withTestBed { bed in
            let words = Self.pairs + Self.others
            let lines = stride(from: 0, to: words.count, by: 50).map { start in
                let some = words[start..<min(start + 50, words.count)]
                return "printf '%s\\n' " + some.map(ShellText.quoted).joined(separator: " ")
            }
            let result = try await run(lines, by: shell, in: bed)
            let seen = result.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            let wrong = zip(words, seen).first { $0 != $1 }
            #expect(seen.count == words.count && wrong == nil, "\(String(describing: wrong)) \(result.errors)")
        }
    }

    @Test("evaluated variables contain the provider's text, of which nothing is executed", arguments: shells)
    func variables(shell: [String]) async throws {
        try await withTestBed { bed in
            for name in Self.others + [#"\"#, #"a\'; touch pwned; \'"#] {
                let written = String(decoding: try JSONEncoder().encode(name), as: UTF8.self).dropFirst().dropLast()
                let token = ScriptedAnswers.token(username: String(written))
                let broker = try broker(["token.acquireSilent": token])
                let printed = try await brokerctl(
                    ["token", "--app", "mail", "--scope", "email", "--format", "env"], at: broker.path)
                #expect(printed.status == .exited(0), "\(printed)")
                let folder = try bed.makeDirectory("folder")
                try Data(printed.output.utf8).write(to: URL(filePath: folder + "/env"))
                // The form that people use.
                let evaluate = shell.first == "fish" ? "eval (cat env)" : "eval \"$(cat env)\""
                let result = try await run(
                    ["cd \(folder)", evaluate, "printf '%s\\n' \"$BROKER_ACCOUNT\""], by: shell, in: bed)
                #expect(result.output == name + "\n", "\(result.errors)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["env"])
            }
        }
    }

    @Test("a word is quoted only if necessary")
    func plain() {
        #expect(ShellText.quoted("https://id.example.org:8443/a-b_c@d") == "https://id.example.org:8443/a-b_c@d")
    }
}

import Foundation

/// A terminal of a given size with a program in it: tmux, whose screen is what a person would see.
package struct Terminal: Sendable {
    private let bed: TestBed
    private let server: String
    /// The file with the program's exit status, as in a shell: tmux itself does not notice the end if the process that
    /// started it has blocked the signal.
    private let status: String

    /// Starts the program. A process remains in the terminal after its end, because tmux closes a terminal without one,
    /// and loses the output that the kernel has not passed on yet.
    package static func start(
        _ launch: Launch, columns: Int, rows: Int, in bed: TestBed
    ) async throws -> Terminal {
        let terminal = Terminal(
            bed: bed, server: bed.path(bed.unique("tmux")), status: bed.path(bed.unique("status")))
        bed.atEnd { _ = try? await terminal.tmux("kill-server") }
        let options = bed.path(bed.unique("tmux.conf"))
        try "set -g status off\nset -g history-limit 2000\n".write(toFile: options, atomically: true, encoding: .utf8)
        let variables = launch.environment.map { "\($0.key)=\($0.value)" }
        let script = "trap : INT; \"$@\"; echo $? > '\(terminal.status)'; exec /bin/sleep infinity"
        try await terminal.tmux(
            ["-f", options, "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "env", "-i", "TERM=screen"]
                + variables + ["sh", "-c", script, "sh", launch.executable] + launch.arguments)
        return terminal
    }

    /// The lines of the screen, without trailing spaces; lines that the terminal wrapped are joined.
    package func screen() async throws -> [String] { try await lines() }

    /// Every line that the program printed, also those that have scrolled off the screen.
    package func history() async throws -> [String] { try await lines("-S", "-") }

    private func lines(_ options: String...) async throws -> [String] {
        try await tmux(["capture-pane", "-p", "-J"] + options).split(separator: "\n", omittingEmptySubsequences: false)
            .map { String($0).replacing(#/\s+$/#, with: "") }
    }

    /// Waits until the screen shows the text.
    package func wait(for text: String) async throws {
        try await eventually("the terminal shows “\(text)”") {
            try await screen().contains { $0.contains(text) }
        }
    }

    /// Inserts text like a paste, all at once.
    package func paste(_ text: String) async throws {
        let file = bed.path(bed.unique("paste"))
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        try await tmux("load-buffer", file)
        try await tmux("paste-buffer", "-r")
    }

    /// Presses keys by tmux's names: `Enter`, `C-c`, `BSpace`.
    package func press(_ keys: String...) async throws { try await tmux(["send-keys"] + keys) }

    /// Waits for the program's end.
    package func exitStatus() async throws -> Int32 {
        try await awaited("the program ends") {
            (try? String(contentsOfFile: status, encoding: .utf8)).flatMap { Int32($0.dropLast()) }
        }
    }

    @discardableResult
    private func tmux(_ arguments: String...) async throws -> String { try await tmux(arguments) }

    @discardableResult
    private func tmux(_ arguments: [String]) async throws -> String {
        try await bed.require("tmux", ["-u", "-S", server] + arguments)
    }
}

import Foundation

/// Prints the steps; in color on a terminal only.
struct DemoOutput: Sendable {
    private let isTerminal = isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil

    func step(_ title: String, _ details: [some StringProtocol] = [String]()) {
        var text = isTerminal ? "\u{1b}[32m✔\u{1b}[0m \u{1b}[1m\(title)\u{1b}[0m\n" : "* \(title)\n"
        for line in details { text += "    \(line)\n" }
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }

    func failed(_ error: any Error, log: String) {
        var text = "The demonstration failed: \(error)\n"
        if !log.isEmpty { text += "The broker's log:\n\(log)" }
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}

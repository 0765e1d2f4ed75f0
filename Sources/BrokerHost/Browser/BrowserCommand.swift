import Subprocess

/// A program that opens a web address, and how the address is handed to it.
struct BrowserCommand: Sendable, Equatable {
    var program: String
    /// `%s` stands for the address; without one it comes last.
    var words: [String]

    func arguments(url: String) -> [String] {
        guard words.contains(where: { $0.contains("%s") }) else { return words + [url] }
        return words.map { word in
            guard let place = word.firstRange(of: "%s") else { return word }
            return word[..<place.lowerBound] + url + word[place.upperBound...]
        }
    }

    /// What to try, in this order: the programs of `$BROWSER` (colon-separated, each with its words), then xdg-open.
    ///
    /// Inside a systemd service the user's manager is asked to start xdg-open: a browser started from here would live
    /// in the broker's sandbox and end with it.
    static func candidates(environment: [String: String]) -> [BrowserCommand] {
        let chosen = (environment["BROWSER"] ?? "").split(separator: ":").compactMap { choice -> BrowserCommand? in
            let words = choice.split(separator: " ").map(String.init)
            return words.first.map { BrowserCommand(program: $0, words: Array(words.dropFirst())) }
        }
        let fallback = BrowserCommand(program: "xdg-open", words: [])
        guard environment["INVOCATION_ID"] != nil else { return chosen + [fallback] }
        return (chosen + [fallback]).map(\.startedByUserManager)
    }

    /// Only web addresses reach a browser's command line: nothing that it could take for an option or a file.
    static func isWebAddress(_ url: String) -> Bool {
        (url.hasPrefix("https://") || url.hasPrefix("http://"))
            && url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "\"") }
    }

    /// Variables by which systemd talks to this process alone.
    static let notForChildren: [Environment.Key: String?] = Dictionary(
        uniqueKeysWithValues: [
            "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
            "STATE_DIRECTORY", "RUNTIME_DIRECTORY", "CREDENTIALS_DIRECTORY", "INVOCATION_ID", "JOURNAL_STREAM",
        ].map { (Environment.Key(stringLiteral: $0), nil) })

    private var startedByUserManager: BrowserCommand {
        // With a description of its own: the default one is the whole command line, and it would be logged.
        BrowserCommand(
            program: "systemd-run",
            words: ["--user", "--collect", "--quiet", "--description=Sign-in page", "--", program] + words)
    }
}

/// One way to start a browser: a program and its arguments, run without a shell.
package struct BrowserCommand: Sendable, Equatable {
    package var program: String
    /// Its arguments; `%s` or `%u` in a word is replaced by the URL.
    package var words: [String]
    /// Whether the user's systemd starts it instead of this process.
    private var isUnit = false

    package init(program: String, words: [String] = []) {
        self.program = program
        self.words = words
    }

    /// Creates a command from its words; `nil` if there are none.
    package init?(_ words: [String]) {
        guard let program = words.first else { return nil }
        self.init(program: program, words: Array(words.dropFirst()))
    }

    /// The commands of `$BROWSER` in their order.
    ///
    /// They are separated by colons; each may have arguments, quoted if they contain spaces. An invalid command (an open quote)
    /// is left out.
    ///
    /// - Parameter variable: the variable's value.
    package static func named(by variable: String?) -> [BrowserCommand] {
        (variable ?? "").split(separator: ":").compactMap { words(of: $0).flatMap(BrowserCommand.init) }
    }

    /// Asks the desktop for its default browser.
    package static let desktop = BrowserCommand(program: "xdg-open")

    /// Asks the desktop's portal (org.freedesktop.portal.OpenURI), which starts the browser in the user's session, regardless of
    /// the caller. It fails without a portal, or without a desktop to open a window on.
    package static let portal = BrowserCommand(
        program: "busctl",
        words: [
            "--user", "--quiet", "--timeout=10", "call", "org.freedesktop.portal.Desktop",
            "/org/freedesktop/portal/desktop", "org.freedesktop.portal.OpenURI", "OpenURI", "ssa{sv}", "", "%u", "0",
        ])

    /// Whether the program exits when it has opened the page or failed to. Other programs may be the browser itself.
    package var endsAtOnce: Bool { self == .portal }

    /// The user's default browser: by the portal if there is a session bus, else by `xdg-open`.
    package static func ofDesktop(hasSessionBus: Bool) -> [BrowserCommand] {
        hasSessionBus ? [.portal, .desktop] : [.desktop]
    }

    /// Whether a browser may be given this address: nothing that a program takes for an option or a file, no scheme that makes a
    /// browser do anything but load a page, and no more bytes than Linux allows for one argument.
    package static func isWebAddress(_ url: String) -> Bool { WebURL(url, atMost: (128 << 10) - 1) != nil }

    /// The command for a process that is a unit: systemd starts the browser, which otherwise would have the unit's limits, and end
    /// with it.
    package var asUnit: BrowserCommand {
        var command = self
        // The portal starts the browser in the user's session by itself.
        command.isUnit = self != .portal
        return command
    }

    /// The program and its arguments that open `url`: it replaces `%s` and `%u`, or comes last. `%%` means a percent sign.
    package func commandLine(for url: String) -> [String] {
        let url = HandOver.address(url)
        let filled = words.map { Self.fill($0, with: url) }
        let replaced = filled.contains { $0.hasURL }
        let line = [program] + filled.map(\.text) + (replaced ? [] : [url])
        guard isUnit else { return line }
        // With its own description: the default one is the whole command line, and it would be logged.
        let starter = ["systemd-run", "--user", "--collect", "--quiet", "--description=Sign-in page", "--"]
        return starter + line.map(HandOver.systemdWord)
    }

    private static func fill(_ word: String, with url: String) -> (text: String, hasURL: Bool) {
        var text = ""
        var hasURL = false
        var rest = word[...]
        while let percent = rest.firstIndex(of: "%") {
            text += rest[..<percent]
            rest = rest[percent...].dropFirst()
            switch rest.first {
            case "s", "u":
                text += url
                hasURL = true
                rest = rest.dropFirst()
            case "%":
                text += "%"
                rest = rest.dropFirst()
            default:
                text += "%"
            }
        }
        return (text + rest, hasURL)
    }

    /// The words of a command, split at spaces, except in quotes (single, double) and after backslashes; `nil` for an open quote.
    package static func words(of command: some StringProtocol) -> [String]? {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in command {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if character == open { quote = nil } else { word?.append(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character == " " || character == "\t" {
                if let complete = word { words.append(complete) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil, !isEscaped else { return nil }
        return words + (word.map { [$0] } ?? [])
    }
}

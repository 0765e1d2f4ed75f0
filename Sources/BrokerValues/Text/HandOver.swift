/// Escapes untrusted text for programs that interpret it. The rules for all such programs are here; docs/threat-model.md lists
/// the programs with their tests.
package enum HandOver {
    /// A web address for the program that opens it. `$`, `{` and `}` are percent-encoded: the programs on the way to a browser
    /// expand variables, and servers accept both spellings.
    package static func address(_ url: String) -> String {
        url.replacing(scalar: "$", with: "%24").replacing(scalar: "{", with: "%7B").replacing(scalar: "}", with: "%7D")
    }

    /// One word of a command line that systemd runs. It expands variables of the manager's environment for `$NAME` and `${NAME}`,
    /// and reads `$$` as a single `$` (systemd.service(5), "Command lines").
    package static func systemdWord(_ text: String) -> String { text.replacing(scalar: "$", with: "$$") }

    /// One word for sh, bash, dash, zsh, ksh, fish and csh, always in quotes. A quote, a backslash and an exclamation mark are
    /// outside the quotes, after a backslash: between single quotes fish interprets backslashes and csh its history, and the
    /// others do not. There is no common way to write a line end for all of them.
    package static func shellWord(_ text: String) -> String {
        var word = ""
        var isQuoted = false
        func quotes(_ wanted: Bool) {
            if isQuoted != wanted { word += "'" }
            isQuoted = wanted
        }
        for scalar in text.unicodeScalars {
            quotes(scalar != "'" && scalar != "\\" && scalar != "!")
            if !isQuoted { word += "\\" }
            word.unicodeScalars.append(scalar)
        }
        quotes(false)
        return word.isEmpty ? "''" : word
    }

    /// As ``shellWord(_:)``, but with quotes only if necessary, for commands that are shown to people.
    package static func shownShellWord(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-./:@_".utf8.contains($0) }
        return isPlain && !text.isEmpty ? text : shellWord(text)
    }

    /// The title of a notification. Notification servers may interpret markup in it.
    package static func noticeTitle(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "<" && $0 != ">" && $0 != "&" }))
    }

    /// The text of a notification. `notify-send` interprets C escapes in it (`\074`, `\n`), and would turn them into markup.
    package static func noticeText(_ text: String) -> String {
        noticeTitle(text).replacing(scalar: "\\", with: "\\\\")
    }

    /// A string in a desktop entry (Desktop Entry Specification 1.5, "Possible value types").
    package static func desktopString(_ text: String) -> String {
        let line = text.unicodeScalars.filter { !Character($0).isNewline }
        return String(String.UnicodeScalarView(line)).replacing(scalar: "\\", with: "\\\\")
    }

    /// One argument of `Exec` in a desktop entry ("The Exec key"): quoted, then escaped like every string there.
    package static func desktopWord(_ text: String) -> String {
        var word = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "`", "$", "\\": word += "\\"
            case "%": word += "%"
            default: break
            }
            word.unicodeScalars.append(scalar)
        }
        return desktopString("\"\(word)\"")
    }
}

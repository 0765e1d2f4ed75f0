/// Foreign text on its way to a program that reads more in it than its characters. The spellings of all such programs are here;
/// docs/threat-model.md lists the programs with their tests.
package enum HandOver {
    /// A web address for whatever opens it. `$`, `{` and `}` are percent-encoded: the programs on the way to a browser put
    /// variables in their place, and servers read both spellings alike.
    package static func address(_ url: String) -> String {
        url.replacing(scalar: "$", with: "%24").replacing(scalar: "{", with: "%7B").replacing(scalar: "}", with: "%7D")
    }

    /// One word of a command line that systemd runs. It puts variables of the manager's environment in the place of `$NAME` and
    /// `${NAME}`, and a single `$` in the place of two (systemd.service(5), "Command lines").
    package static func systemdWord(_ text: String) -> String { text.replacing(scalar: "$", with: "$$") }

    /// One word for sh, bash, dash, zsh, ksh, fish and csh, always in quotes. A quote, a backslash and an exclamation mark stand
    /// outside of them, behind a backslash: between single quotes fish reads backslashes and csh its history, and the others do
    /// not. No way of writing a line's end is the same for all of them.
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

    /// The same, in quotes only where it needs them: for commands that people are shown.
    package static func shownShellWord(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "-")...UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isPlain && !text.isEmpty ? text : shellWord(text)
    }

    /// The title of a notice. Notification servers may read markup in it.
    package static func noticeTitle(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "<" && $0 != ">" && $0 != "&" }))
    }

    /// The text of a notice. `notify-send` reads escapes of C in it (`\074`, `\n`), and would make markup of them.
    package static func noticeText(_ text: String) -> String {
        noticeTitle(text).replacing(scalar: "\\", with: "\\\\")
    }

    /// A string in a desktop entry (Desktop Entry Specification 1.5, "Possible value types").
    package static func desktopString(_ text: String) -> String {
        let line = text.unicodeScalars.filter { !Character($0).isNewline }
        return String(String.UnicodeScalarView(line)).replacing(scalar: "\\", with: "\\\\")
    }

    /// One argument of `Exec` in a desktop entry ("The Exec key"): quoted, then escaped as every string there is.
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

/// A manual page in man(7) macros.
struct Roff {
    private var lines: [String] = []

    /// The last review of the handwritten parts; man pages carry a date.
    private static let date = "2026-11-22"

    init(_ name: String, section: Int, title: String) {
        lines = [
            ".\\\" Made from the program's own definitions: UPDATE_DOCS=1 swift test --filter Manual",
            ".TH \(name.uppercased()) \(section) \(Self.date) \"token broker\" \"\(title)\"",
        ]
    }

    var text: String { lines.map { $0 + "\n" }.joined() }

    mutating func section(_ title: String) { lines.append(".SH \(Self.argument(title))") }

    mutating func subsection(_ title: String) { lines.append(".SS \(Self.argument(title))") }

    /// One or more paragraphs, separated by empty lines; indented lines stay as they are.
    mutating func paragraphs(_ text: String) {
        for block in text.split(separator: "\n\n").map(String.init) {
            // A heading already starts a paragraph.
            if lines.last?.hasPrefix(".S") != true { lines.append(".PP") }
            let all = block.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            let words = all.prefix { !$0.hasPrefix("  ") }
            if !words.isEmpty { running(words.joined(separator: " ")) }
            let example = all.dropFirst(words.count).filter { !$0.isEmpty }
            if !example.isEmpty { literal(example.map { String($0.drop { $0 == " " }) }, isFirst: words.isEmpty) }
        }
    }

    /// A term and its description.
    mutating func item(_ term: String, _ text: String) {
        lines += [".TP", Self.inline(term)]
        running(text)
    }

    /// A command line to type.
    mutating func synopsis(_ text: String) {
        lines.append(Self.inline(text))
    }

    private mutating func literal(_ text: [String], isFirst: Bool) {
        // Drops a trailing empty paragraph.
        if isFirst, lines.last == ".PP" { lines.removeLast() }
        lines += [".PP", ".RS 4", ".EX"] + text.map { Self.line(Self.escaped($0)) } + [".EE", ".RE"]
    }

    /// Filled by roff; wrapped here to keep diffs small.
    private mutating func running(_ text: String) {
        var line = ""
        for word in Self.words(text) {
            if !line.isEmpty, line.count + word.count + 1 > 78 {
                lines.append(Self.line(Self.inline(line)))
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
            // A sentence ends its line (man-pages(7)).
            if word.last == ".", word.count > 3, !word.dropLast().contains(".") {
                lines.append(Self.line(Self.inline(line)))
                line = ""
            }
        }
        if !line.isEmpty { lines.append(Self.line(Self.inline(line))) }
    }

    /// Lines are not broken within code.
    private static func words(_ text: String) -> [String] {
        var isCode = false
        return text.split { character in
            if character == "`" { isCode.toggle() }
            return !isCode && character.isWhitespace
        }.map(String.init)
    }

    /// Code between backquotes is bold.
    private static func inline(_ text: String) -> String {
        var result = ""
        for (index, part) in text.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
            result += index % 2 == 1 ? "\\fB\(escaped(String(part)))\\fP" : escaped(String(part))
        }
        return result
    }

    /// Escapes text that roff would read as a macro at the start of a line.
    private static func line(_ text: String) -> String {
        text.hasPrefix(".") || text.hasPrefix("\\(aq") || text.hasPrefix("'") ? "\\&" + text : text
    }

    private static func argument(_ text: String) -> String { "\"\(escaped(text))\"" }

    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "\"": result += "\\(dq"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            case _ where scalar.value > 126:
                result += "\\[u\(String(repeating: "0", count: max(0, 4 - hex(scalar).count)))\(hex(scalar))]"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }

    private static func hex(_ scalar: Unicode.Scalar) -> String { String(scalar.value, radix: 16, uppercase: true) }
}

/// Lays out text: on a terminal within its width and with emphasis, elsewhere without wrapping or shortening lines.
package struct Layout: Sendable {
    /// The width in columns; `nil` for no limit.
    package let columns: Int?
    package let style: Style

    package static let plain = Layout(columns: nil)

    package init(columns: Int?) { self.init(columns: columns, style: Style(isOn: false)) }

    package init(columns: Int?, style: Style) {
        // Text is unreadable in fewer columns, and a terminal may report any number.
        self.columns = columns.map { max(20, $0) }
        self.style = style
    }

    /// Wraps long lines at spaces and keeps their indentation.
    ///
    /// - Parameter hanging: the additional indentation of continuation lines.
    package func prose(_ text: String, hanging: Int = 0) -> String {
        guard let columns else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard String(line).columns > columns else { return String(line) }
            let words = line.drop { $0 == " " }
            let indentation = line.count - words.count
            return Self.indented(
                Self.broken(words, at: columns - indentation, then: columns - indentation - hanging),
                by: indentation, then: indentation + hanging
            ).joined(separator: "\n")
        }.joined(separator: "\n")
    }

    /// A name with its text: next to it if that fits, otherwise below it.
    ///
    /// - Parameter width: the width of the longest name.
    package func entry(_ name: String, width: Int, _ paragraphs: [String]) -> [String] {
        let margin = width + 2
        let longest = paragraphs.map(\.columns).max() ?? 0
        guard let columns, margin + longest > columns else {
            return Self.indented(paragraphs, by: 0, then: margin, after: name.padded(to: margin))
        }
        let words = paragraphs.flatMap { $0.split(separator: " ") }.map { String($0).columns }
        guard columns - margin >= 16, words.allSatisfy({ $0 <= columns - margin }) else {
            let lines = paragraphs.flatMap { Self.broken($0[...], at: columns - 2, then: columns - 2) }
            return [name] + Self.indented(lines, by: 2, then: 2)
        }
        let lines = paragraphs.flatMap { Self.broken($0[...], at: columns - margin, then: columns - margin) }
        return Self.indented(lines, by: 0, then: margin, after: name.padded(to: margin))
    }

    /// Breaks a text into lines. A word longer than a line gets a line of its own: the terminal wraps it, and it can still be
    /// copied.
    private static func broken(_ text: Substring, at width: Int, then rest: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ", omittingEmptySubsequences: false).map(String.init) {
            let room = lines.count > 1 ? rest : width
            if let last = lines.last, last.columns + 1 + word.columns <= room {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(word)
            }
        }
        return lines
    }

    private static func indented(_ lines: [String], by first: Int, then rest: Int, after name: String = "") -> [String]
    {
        lines.enumerated().map { index, line in
            index == 0 ? name + "".padded(to: first) + line : "".padded(to: rest) + line
        }
    }
}

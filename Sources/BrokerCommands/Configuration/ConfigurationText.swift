import BrokerLink
import BrokerValues

/// Edits one setting in the text of a configuration file and keeps everything else, including comments. Pure.
///
/// It understands the TOML that people write in such files: tables, keys, values on one line. The daemon's own parser checks the
/// result before it is kept.
package enum ConfigurationText {
    /// - Parameters:
    ///   - name: table and key: `log.level`.
    ///   - value: as TOML, see ``literal(_:)``.
    /// - Throws: for a value on several lines, which needs an editor.
    package static func setting(_ name: String, to value: String, in text: String) throws(BrokerClientError) -> String {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex, name.index(after: dot) < name.endIndex else {
            throw BrokerClientError(
                .invalidParameter, "\(name) is not a setting; a setting is a table and a key, such as log.level.")
        }
        let (table, key) = (String(name[..<dot]), String(name[name.index(after: dot)...]))
        var lines = text.fileLines
        let end = lines.first?.last == "\r" ? "\r" : ""
        if let place = place(of: key, table, in: lines) {
            lines[place] = try replacing(lines[place], with: value)
        } else if let header = lines.firstIndex(where: { self.table($0) == table }) {
            lines.insert("\(key) = \(value)\(end)", at: header + 1)
        } else {
            if let last = lines.last, !last.trimmed.isEmpty { lines.append(end) }
            lines += ["[\(table)]\(end)", "\(key) = \(value)\(end)"]
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// A value as TOML: a text that looks like a number, a boolean, an array or a string is used as such, any other as a string.
    package static func literal(_ text: String) -> String {
        let isNumber = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } && !text.isEmpty
        if isNumber || ["true", "false"].contains(text) || ["[", "\"", "'", "{"].contains(text.first) { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// The line that sets the key: in its table, or with its full name before any table.
    private static func place(of key: String, _ table: String, in lines: [String]) -> Int? {
        var current = ""
        for (number, line) in lines.enumerated() {
            if let begun = self.table(line) { current = begun }
            guard let equals = line.firstIndex(of: "="), !line.trimmed.hasPrefix("#") else { continue }
            let name = String(line[..<equals]).trimmed
            if (current == table && name == key) || (current.isEmpty && name == "\(table).\(key)") { return number }
        }
        return nil
    }

    /// `[name]`, with or without a trailing comment.
    private static func table(_ line: String) -> String? {
        let line = line.trimmed
        guard line.hasPrefix("["), !line.hasPrefix("[["), let end = line.firstIndex(of: "]") else { return nil }
        return String(line[line.index(after: line.startIndex)..<end]).trimmed
    }

    private static func replacing(_ line: String, with value: String) throws(BrokerClientError) -> String {
        guard let equals = line.firstIndex(of: "=") else { return line }
        let start = line.index(after: equals)
        guard let end = endOfValue(in: line[start...]) else {
            throw BrokerClientError(
                .unsupported, "The value spans several lines; change it with brokerctl config edit.")
        }
        return line[..<start] + " " + value + line[end...]
    }

    /// The end of a value on one line, before blanks or a comment; `nil` if it does not end there.
    private static func endOfValue(in text: Substring) -> Substring.Index? {
        var depth = 0
        var quote: Character?
        var end = text.startIndex
        var isEscaped = false
        for index in text.indices {
            let character = text[index]
            if let open = quote {
                if isEscaped {
                    isEscaped = false
                } else if character == "\\", open == "\"" {
                    isEscaped = true
                } else if character == open {
                    quote = nil
                }
            } else if character == "#" {
                break
            } else if character == "\"" || character == "'" {
                quote = character
            } else if "[{".contains(character) {
                depth += 1
            } else if "]}".contains(character) {
                depth -= 1
            }
            if !character.isWhitespace { end = text.index(after: index) }
        }
        let isLong = text.holds("\"\"\"") || text.holds("'''")
        return depth == 0 && quote == nil && !isLong ? end : nil
    }
}

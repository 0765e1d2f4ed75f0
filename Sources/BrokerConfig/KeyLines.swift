/// On which line each key stands, for messages. The TOML library tells places of syntax errors only.
///
/// Reads headers and the keys at the start of lines. A text that hides keys in inline tables or strings over several
/// lines gets no line, or the line of the lookalike; values are never taken from here.
struct KeyLines {
    private var lines: [String: Int] = [:]

    init(_ text: String) {
        var table = ""
        for (index, raw) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = raw.drop(while: Self.isBlank)
            if line.first == "[", let end = line.lastIndex(of: "]") {
                table = Self.plain(line[line.index(after: line.startIndex)..<end]) + "."
                lines[String(table.dropLast())] = index + 1
            } else if line.first != "#", let equals = line.firstIndex(of: "=") {
                lines[table + Self.plain(line[..<equals])] = index + 1
            }
        }
    }

    subscript(name: String) -> Int? { lines[name] }

    private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }

    private static func plain(_ key: Substring) -> String {
        key.filter { !isBlank($0) && $0 != "\"" && $0 != "'" }
    }
}

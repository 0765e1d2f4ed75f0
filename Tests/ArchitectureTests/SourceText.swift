import Glibc

/// Swift source with its comments and the text of its literals blanked out, lines kept: only code remains.
struct SourceText: Sendable {
    let code: [Substring]
    let original: [Substring]

    /// The whole file.
    private let bytes: ContiguousArray<CChar>

    init(_ text: String) {
        bytes = text.utf8CString
        original = text.split(separator: "\n", omittingEmptySubsequences: false)
        code = Self.blank(text).split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Whether the text is anywhere in the file. Most files have none of what a rule looks for, and a search by lines takes long.
    func mentions(_ text: String) -> Bool {
        bytes.withUnsafeBufferPointer { whole in whole.baseAddress.map { strstr($0, text) != nil } ?? false }
    }

    struct Import: Equatable {
        var module: String
        var line: Int
        var isTestable = false
    }

    /// Every import, with the text before the keyword (`@preconcurrency`, `package`) and after it (`struct`).
    var imports: [Import] {
        code.enumerated().compactMap { index, line in
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init)
            guard let place = words.firstIndex(of: "import"), place + 1 < words.count,
                words[..<place].allSatisfy({ $0.hasPrefix("@") || Self.modifiers.contains($0) })
            else { return nil }
            let hasKind = Self.kinds.contains(words[place + 1]) && place + 2 < words.count
            let path = words[place + (hasKind ? 2 : 1)]
            let module = path.split(whereSeparator: { $0 == "." || $0 == ";" }).first.map(String.init) ?? path
            return Import(module: module, line: index + 1, isTestable: words[..<place].contains("@testable"))
        }
    }

    /// Lines (from 1) whose code contains the text, as a separate word if it begins or ends with a letter.
    func lines(with text: String) -> [Int] {
        guard mentions(text) else { return [] }
        return code.enumerated().compactMap { index, line in
            line.ranges(of: text).contains { range in
                let before = range.lowerBound > line.startIndex ? line[line.index(before: range.lowerBound)] : " "
                let after = range.upperBound < line.endIndex ? line[range.upperBound] : " "
                let startsInside = Self.isWord(before) && (text.first.map(Self.isWord) ?? false)
                let endsInside = Self.isWord(after) && (text.last.map(Self.isWord) ?? false)
                return !startsInside && !endsInside
            } ? index + 1 : nil
        }
    }

    /// Whether the comment directly above a line has the words.
    func comment(above line: Int, mentions words: String) -> Bool {
        var index = line - 2
        while index >= 0, original[index].drop(while: \.isWhitespace).hasPrefix("//") {
            if original[index].contains(words) { return true }
            index -= 1
        }
        return false
    }

    private static let modifiers: Set<String> = ["public", "package", "internal", "fileprivate", "private"]
    private static let kinds: Set<String> = [
        "struct", "class", "enum", "protocol", "func", "var", "let", "typealias", "actor",
    ]

    private static func isWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }

    /// A literal's interpolations are blanked with it: none contains a declaration or an import.
    private static func blank(_ text: String) -> String {
        var result = ""
        var rest = Substring(text)
        while let first = rest.first {
            if rest.hasPrefix("//") {
                rest = rest.drop { $0 != "\n" }
            } else if rest.hasPrefix("/*") {
                skipComment(&rest, into: &result)
            } else if first == "\"" || first == "#", let end = literalEnd(rest) {
                result += rest[..<end].filter { $0 == "\n" }
                rest = rest[end...]
            } else {
                result.append(first)
                rest.removeFirst()
            }
        }
        return result
    }

    private static func skipComment(_ rest: inout Substring, into result: inout String) {
        var depth = 0
        repeat {
            if rest.hasPrefix("/*") {
                depth += 1
                rest = rest.dropFirst(2)
            } else if rest.hasPrefix("*/") {
                depth -= 1
                rest = rest.dropFirst(2)
            } else {
                if rest.first == "\n" { result += "\n" }
                rest = rest.dropFirst()
            }
        } while depth > 0 && !rest.isEmpty
    }

    /// The end of a string literal that starts here; `nil` if none starts here.
    private static func literalEnd(_ text: Substring) -> String.Index? {
        let hashes = text.prefix { $0 == "#" }
        var rest = text[hashes.endIndex...]
        let quote = rest.hasPrefix("\"\"\"") ? "\"\"\"" : "\""
        guard rest.hasPrefix(quote) else { return nil }
        rest = rest.dropFirst(quote.count)
        while !rest.isEmpty {
            if rest.hasPrefix("\\" + hashes) {
                rest = rest.dropFirst(1 + hashes.count)
                // An interpolation may contain literals of its own.
                if rest.first == "(" { skipInterpolation(&rest) } else { rest = rest.dropFirst() }
            } else if rest.hasPrefix(quote + hashes) {
                return rest.index(rest.startIndex, offsetBy: quote.count + hashes.count)
            } else {
                rest = rest.dropFirst()
            }
        }
        return text.endIndex
    }

    private static func skipInterpolation(_ rest: inout Substring) {
        var depth = 0
        repeat {
            if let end = literalEnd(rest) {
                rest = rest[end...]
                continue
            }
            if rest.first == "(" { depth += 1 }
            if rest.first == ")" { depth -= 1 }
            rest = rest.dropFirst()
        } while depth > 0 && !rest.isEmpty
    }
}

import CToml

/// The contents of a TOML text: every key with a value, qualified by its tables, in no particular order.
struct TOMLDocument {
    struct Entry {
        /// The names of the tables, outermost first, then the key.
        var path: [String]
        var value: SettingValue
        /// The line of the key, counted from 1.
        var line: Int
    }

    struct Failure: Error {
        var message: String
        var line: Int
    }

    private(set) var entries: [Entry] = []

    /// The parser makes a table for every dot in a key and walks tables recursively: `a.a.a.…` would exhaust the stack.
    private static let dotsInLine = 1000

    init(_ text: String) throws(Failure) {
        for (index, line) in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated()
        where line.count(where: { $0 == UInt8(ascii: ".") }) > Self.dotsInLine {
            throw Failure(message: "tables are nested too deeply", line: index + 1)
        }
        var text = text
        var failure = toml_failure()
        let isRead = text.withUTF8 { bytes in
            withUnsafeMutablePointer(to: &entries) { entries in
                toml_read(
                    toml_text(bytes: bytes.baseAddress, count: bytes.count), entries,
                    { context, entry in
                        guard let context, let entry else { return }
                        context.assumingMemoryBound(to: [Entry].self).pointee.append(Entry(entry.pointee))
                    }, &failure)
            }
        }
        guard isRead else { throw Failure(failure) }
    }
}

extension TOMLDocument.Entry {
    fileprivate init(_ entry: toml_entry) {
        path = UnsafeBufferPointer(start: entry.path, count: entry.depth).map(String.init(copying:))
        line = Int(entry.line)
        let words = UnsafeBufferPointer(start: entry.words, count: entry.word_count).map(String.init(copying:))
        value =
            switch entry.kind {
            case TOML_STRING: words.first.map { .string($0) } ?? .other("a string")
            case TOML_WORDS: .words(words)
            case TOML_INTEGER: .integer(Int(entry.integer))
            case TOML_BOOLEAN: .boolean(entry.integer != 0)
            case TOML_FRACTION: .other("a number with a fraction")
            case TOML_DATE_OR_TIME: .other("a date or time")
            default: .other("an array")
            }
    }
}

extension TOMLDocument.Failure {
    fileprivate init(_ failure: toml_failure) {
        line = Int(failure.line)
        message = withUnsafeBytes(of: failure.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

extension String {
    fileprivate init(copying text: toml_text) {
        self.init(decoding: UnsafeRawBufferPointer(start: text.bytes, count: text.count), as: UTF8.self)
    }
}

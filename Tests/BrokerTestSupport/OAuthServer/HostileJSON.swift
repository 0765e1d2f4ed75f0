/// Kinds of JSON that cost a parser more than their length, if it tries types one after the other, stores the path of each
/// value, or normalizes text.
package struct HostileJSON: Sendable, CustomStringConvertible {
    package let description: String
    private let value: @Sendable (_ bytes: Int) -> String

    /// A whole text of about that length.
    package func text(ofBytes count: Int) -> [UInt8] { Array(value(count).utf8) }

    /// One member of an object.
    package func member(ofBytes count: Int) -> String { "\"hostile\":\(value(count))" }

    private init(_ description: String, _ value: @escaping @Sendable (_ bytes: Int) -> String) {
        self.description = description
        self.value = value
    }

    private static func list(_ bytes: Int, of element: String) -> String {
        "[" + Array(repeating: element, count: bytes / (element.utf8.count + 1)).joined(separator: ",") + "]"
    }

    private static func nested(_ open: String, _ inner: String, _ close: String, levels: Int) -> String {
        String(repeating: open, count: levels) + inner + String(repeating: close, count: levels)
    }

    /// Deep enough to be slow, but below any limit of nesting.
    private static let fewLevels = 50

    package static let all: [HostileJSON] = [
        HostileJSON("nested arrays") { nested("[", "", "]", levels: $0 / 2) },
        HostileJSON("nested objects") { nested("{\"a\":", "1", "}", levels: $0 / 6) },
        HostileJSON("nested arrays and objects") { nested("[{\"a\":", "1", "}]", levels: $0 / 8) },
        HostileJSON("nested arrays that never end") { String(repeating: "[", count: $0) },
        HostileJSON("nested arrays around a mistake") { nested("[", "x", "]", levels: $0 / 2) },
        HostileJSON("many arrays, each nested a little") { list($0, of: nested("[", "", "]", levels: fewLevels)) },
        HostileJSON("many objects, each nested a little") {
            list($0, of: nested("{\"a\":", "1", "}", levels: fewLevels))
        },
        HostileJSON("a wide array of numbers") { list($0, of: "0") },
        HostileJSON("a wide array of empty objects") { list($0, of: "{}") },
        HostileJSON("a wide array of texts") { list($0, of: "\"\"") },
        HostileJSON("an object of many names") { bytes in
            "{" + (0..<(bytes / 12)).map { "\"n\($0)\":0" }.joined(separator: ",") + "}"
        },
        HostileJSON("an object of one name many times") { bytes in
            "{" + Array(repeating: "\"a\":0", count: bytes / 6).joined(separator: ",") + "}"
        },
        HostileJSON("one long text") { "\"" + String(repeating: "a", count: $0) + "\"" },
        HostileJSON("one long text of escapes") { "\"" + String(repeating: #"\n"#, count: $0 / 2) + "\"" },
        HostileJSON("one long text of escaped pairs") {
            "\"" + String(repeating: #"\ud83d\ude00"#, count: $0 / 12) + "\""
        },
        HostileJSON("one long number") { String(repeating: "9", count: $0) },
        HostileJSON("one long fraction") { "0." + String(repeating: "0", count: $0) + "1" },
        HostileJSON("one long exponent") { "1e" + String(repeating: "9", count: $0) },
        HostileJSON("many long numbers") { list($0, of: String(repeating: "7", count: 1000)) },
        HostileJSON("marks that must be sorted, in a name") {
            "{\"a" + String(repeating: "\u{301}\u{327}", count: $0 / 4) + "\":1}"
        },
        HostileJSON("marks that must be sorted, in a text") {
            "\"a" + String(repeating: "\u{301}\u{327}", count: $0 / 4) + "\""
        },
        HostileJSON("white space") { "[" + String(repeating: " ", count: $0) + "]" },
    ]
}

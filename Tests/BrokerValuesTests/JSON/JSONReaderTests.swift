import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Reading JSON")
struct JSONReaderTests {
    @Test(
        "valid JSON is read as Foundation reads it",
        arguments: [
            "null", " true ", "false\r\n", "0", "-0", "12", "-3.25", "1e3", "1E-2", "0.5e+1", "\"\"", "\"a\"",
            #""\"\\\/\b\f\n\r\t""#, #""\u0041\u00e9\u20ac\ud83d\ude00""#, "\"é€😀\"", "[]", "[1,[2,[3]],{}]",
            "{}", #"{"a":1,"b":[true,null],"":{"c":"d"}}"#, "\t[\n1 ,\r2 ]\n", #"{"a" : {"b" : "\u0000"}}"#,
        ])
    func agreesWithFoundation(text: String) throws {
        let read = try JSONReader.read(text.utf8).value
        let theirs = try JSONDecoder().decode([JSONValue].self, from: Data("[\(text)]".utf8))
        #expect([read] == theirs)
    }

    @Test(
        "invalid JSON is refused, and the error has the position",
        arguments: [
            ("", 0), ("  ", 2), ("{", 1), ("[1,", 3), ("[1,]", 3), ("{\"a\":1,}", 7), ("{\"a\"}", 4), ("{a:1}", 1),
            ("tru", 3), ("nul1", 3), ("01", 1), ("1.", 2), (".5", 0), ("+1", 0), ("-", 1), ("1e", 2), ("1e+", 3),
            ("1.e3", 2), ("0x10", 1), ("NaN", 0), ("Infinity", 0), ("'a'", 0), ("\"a", 2), ("\"a\nb\"", 2),
            ("\"\\x\"", 2), ("\"\\u12G4\"", 5), ("\"\\u12", 5), ("[1 2]", 3), ("1 2", 2), ("{} x", 3), ("[}", 1),
            ("\u{feff}1", 0), ("// no\n1", 0), ("[1,/**/2]", 3), ("\"\\", 2), ("-a", 1),
        ])
    func refuses(text: String, offset: Int) throws {
        let error = #expect(throws: JSONReader.Malformed.self) { try JSONReader.read(text.utf8) }
        #expect(error?.offset == offset)
    }

    @Test(
        "half a surrogate pair is refused in every position",
        arguments: [#""\ud800""#, #""\udc00""#, #""\ud800x""#, #""\ud800\n""#, #""\ud800\u0041""#, #""\ud800\ud800""#])
    func loneSurrogate(text: String) {
        let error = #expect(throws: JSONReader.Malformed.self) { try JSONReader.read(text.utf8) }
        #expect(error?.problem == .loneSurrogate)
    }

    @Test(
        "invalid UTF-8 is refused inside strings, even after an escape",
        arguments: [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe2, 0x82], [0xf5, 0x80, 0x80, 0x80]] as [[UInt8]])
    func invalidUTF8(bytes: [UInt8]) {
        for prefix in ["\"", "\"\\n", "{\"", "[\"a\",\""] {
            let text = Array(prefix.utf8) + bytes + Array("\"".utf8)
            let error = #expect(throws: JSONReader.Malformed.self) { try JSONReader.read(text) }
            #expect(error?.problem == .invalidUTF8)
        }
    }

    @Test("64 levels are read, 65 are refused, and a megabyte of brackets is harmless")
    func depth() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        _ = try JSONReader.read(nested(JSONReader.Bounds.outside.depth).utf8)
        let objects = String(repeating: "{\"a\":", count: 65) + "1" + String(repeating: "}", count: 65)
        for text in [nested(JSONReader.Bounds.outside.depth + 1), String(repeating: "[", count: 1 << 20), objects] {
            let error = #expect(throws: JSONReader.Malformed.self) { try JSONReader.read(text.utf8) }
            #expect(error?.problem == .tooDeep)
        }
    }

    @Test("every truncated message is refused")
    func truncated() throws {
        let text = Array(#"{"jsonrpc":"2.0","id":-1.5e3,"p":{"a":["b\u00e9\\",true,null,{}]}}"#.utf8)
        _ = try JSONReader.read(text)
        for end in 0..<text.count {
            let error = #expect(throws: JSONReader.Malformed.self) { try JSONReader.read(text[..<end]) }
            #expect(error?.problem == .unexpectedEnd)
        }
    }

    @Test("numbers keep their text, regardless of their size")
    func numbers() throws {
        for text in ["123456789012345678901234567890", "1.000", "1e400", "-0", "0.1e-999"] {
            guard case .number(let kept) = try JSONReader.read(text.utf8) else {
                Issue.record("not a number: \(text)")
                continue
            }
            #expect(kept == text)
        }
    }

    @Test("a text has at most 65,536 values, so that a small one does not fill the memory")
    func values() throws {
        func list(_ element: String, _ count: Int) -> [UInt8] {
            Array("[\(Array(repeating: element, count: count).joined(separator: ","))]".utf8)
        }
        let most = JSONReader.Bounds.outside.values
        _ = try JSONReader.read(list("0", most - 1))
        for text in [list("0", most), list("\"\"", most), list("[]", most), list("{\"\":0}", most / 2)] {
            let error = #expect(throws: JSONReader.Malformed.self) { try JSONReader.read(text) }
            #expect(error?.problem == .tooMany)
        }
    }

    @Test(
        "more than thirty combining marks in a row are refused, plain or escaped, in names and in values",
        arguments: ["\u{301}\u{327}", #"\u0301\u0327"#])
    func combiningMarks(pair: String) throws {
        func marked(_ pairs: Int) -> [UInt8] {
            let text = "a" + String(repeating: pair, count: pairs)
            return Array(#"{"\#(text)":["b\#(text)"]}"#.utf8)
        }
        _ = try JSONReader.read(marked(15))
        for text in [marked(16), marked(100_000)] {
            let error = #expect(throws: JSONReader.Malformed.self) { try JSONReader.read(text) }
            #expect(error?.problem == .notStreamSafe)
            // Existing data on disk stays readable.
            _ = try text.withUnsafeBytes { try JSONReader.read($0, within: .own) }
        }
        let vietnamese = "tiê\u{301}ng Viê\u{323}t"
        #expect(try JSONReader.read("\"\(vietnamese)\"".utf8).value == .string(vietnamese))
    }

    @Test("if names must be unique, a repeated name is refused at any depth and in any spelling")
    func uniqueNames() throws {
        for text in [#"{"a":1,"a":1}"#, #"[{"b":{"a":1,"\u0061":2}}]"#, #"{"é":1,"e\u0301":2}"#] {
            _ = try JSONReader.read(text.utf8)
            let error = #expect(throws: JSONReader.Malformed.self) { try JSONReader.read(text.utf8, names: .areUnique) }
            #expect(error?.problem == .nameTwice)
        }
        _ = try JSONReader.read(#"{"a":{"a":[{"a":1},{"a":"a"}]},"b":"a"}"#.utf8, names: .areUnique)
    }

    @Test("a document is an object in UTF-8, with or without a byte order mark")
    func documents() throws {
        let text = #"{"issuer":"https://a.test"}"#
        for bytes in [Array(text.utf8), [0xef, 0xbb, 0xbf] + Array(text.utf8)] {
            #expect(JSONObject(json: bytes) == ["issuer": "https://a.test"])
        }
        let wide = text.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
        for bytes in [wide, [0xff, 0xfe] + wide, Array("[\(text)]".utf8), Array("{\"a\":1,}".utf8)] {
            #expect(JSONObject(json: bytes) == nil)
        }
    }

    /// Texts that are slow for readers that backtrack or normalize: each has a million bytes, and is read or refused at once. A
    /// reader that takes more than linear time never finishes this test.
    @Test("a million bytes of any kind are read, compared and written, or refused", arguments: HostileJSON.all)
    func hostile(kind: HostileJSON) {
        let text = kind.text(ofBytes: 1 << 20)
        guard let node = try? JSONReader.read(text) else { return }
        let value = node.value
        #expect(value == (try? JSONReader.read(text))?.value)
        var writer = JSONWriter()
        writer.value(value, sorted: true)
        #expect(!writer.bytes.isEmpty)
    }
}

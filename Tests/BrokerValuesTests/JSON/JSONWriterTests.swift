import BrokerValues
import Foundation
import Testing

@Suite("Writing JSON")
struct JSONWriterTests {
    @Test("Foundation reads back every character")
    func everyCharacter() throws {
        var text = String(String.UnicodeScalarView((0..<0x300).compactMap(Unicode.Scalar.init)))
        text += "\u{2028}\u{2029}\u{fffd}\u{ffff}😀\u{10ffff}"
        var writer = JSONWriter()
        writer.string(text)
        #expect(!writer.bytes.contains { $0 < 0x20 })
        #expect(try JSONDecoder().decode([String].self, from: Data("[".utf8 + writer.bytes + "]".utf8)) == [text])
    }

    @Test(
        "invalid UTF-8 is repaired, and the escapes around it stay right",
        arguments: [
            ([0x22, 0xff, 0x5c], "\"\u{fffd}\\"), ([0xc3, 0xa9, 0x0a], "é\n"), ([0xe2, 0x82], "\u{fffd}"), ([], ""),
        ] as [([UInt8], String)])
    func mends(bytes: [UInt8], text: String) throws {
        var writer = JSONWriter()
        bytes.withUnsafeBytes { bytes in writer.object { $0.strings("a", "b", prefix: "x", utf8: bytes) } }
        #expect(
            try JSONDecoder().decode([String: String].self, from: Data(writer.bytes)) == ["a": text, "b": "x" + text])
    }

    @Test("text with too many marks is made readable, and other text stays unchanged")
    func marks() throws {
        for (count, more) in [(30, 0), (31, 1), (60, 1), (61, 2), (1_000, 33)] {
            for start in ["", "a", "\"\n"] {
                let text = start + String(repeating: "\u{301}", count: count)
                var writer = JSONWriter()
                writer.object {
                    $0.key(named: text); $0.string(text)
                }
                let member = try #require(try JSONReader.read(writer.bytes).value.objectValue?.first)
                let (name, read) = (member.key, try #require(member.value.stringValue))
                #expect(read.unicodeScalars.filter { $0 != "\u{34f}" }.elementsEqual(text.unicodeScalars))
                #expect(read.unicodeScalars.count == text.unicodeScalars.count + more && name == read)
            }
        }
    }

    @Test("every byte is escaped or repaired at every position of a block")
    func everyByteEverywhere() throws {
        for byte in UInt8.min...UInt8.max {
            for place in 0..<43 {
                var bytes = [UInt8](repeating: UInt8(ascii: "!"), count: 43)
                bytes[place] = byte
                var writer = JSONWriter()
                bytes.withUnsafeBytes { writer.string(utf8: $0) }
                guard case .string(let text) = try JSONReader.read(writer.bytes) else { continue }
                #expect(text == String(decoding: bytes, as: UTF8.self))
            }
        }
    }

    @Test("commas are written after every kind of value")
    func commas() throws {
        let value: JSONValue = [
            "a": [1, "x:", "{", "[", ",", [], [:], [[]], true, nil, 1.5], "b": ["c": [:], "d": ["e": "\\"]], "": "\"",
        ]
        var writer = JSONWriter()
        writer.value(value)
        #expect(try JSONDecoder().decode(JSONValue.self, from: Data(writer.bytes)) == value)
        #expect(try JSONReader.read(writer.bytes).value == value)
    }

    @Test("a wiped writer contains nothing, and can be reused")
    func wipes() {
        var writer = JSONWriter(capacity: 64)
        writer.string("secret")
        writer.wipe()
        #expect(writer.bytes.isEmpty)
        writer.integer(7)
        #expect(writer.bytes == Array("7".utf8))
    }

    @Test("truncate() keeps the bytes before it")
    func truncates() {
        var writer = JSONWriter()
        writer.json("1")
        let mark = writer.bytes.count
        writer.string("half")
        writer.truncate(to: mark)
        #expect(writer.bytes == Array("1".utf8))
    }
}

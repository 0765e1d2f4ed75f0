import BrokerValues
import Foundation
import Testing

@Suite("Any JSON")
struct JSONValueTests {
    private func decode(_ text: String) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    }

    @Test("each JSON type is decoded")
    func reading() throws {
        let value = try decode(
            #"{"n":null,"t":true,"i":7,"big":9007199254740993,"f":1.5,"s":"1","a":[1,"x",[]],"o":{"true":false}}"#)
        let expected: JSONValue = [
            "n": nil, "t": true, "i": 7, "big": 9_007_199_254_740_993, "f": 1.5, "s": "1", "a": [1, "x", []],
            "o": ["true": false],
        ]
        #expect(value == expected)
    }

    @Test(
        "encoding a decoded value gives the same text",
        arguments: [
            "null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808", "0.25", "1e+300", "\"\"",
            "\"\u{E9}\\n\\u0000\"", "[]", "{}", #"[[{"a":[{}]}]]"#, #"{"0":1,"1":false}"#,
        ])
    func roundTrip(text: String) throws {
        let value = try decode(text)
        let again = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
        #expect(again == value)
    }

    @Test("1 and true, 0 and false stay different")
    func numbersAreNoTruth() throws {
        #expect(try decode("1") == .integer(1))
        #expect(try decode("true") == .bool(true))
        #expect(try decode("0") != decode("false"))
        #expect(try decode("1").boolValue == nil)
        #expect(try decode("true").integerValue == nil)
        #expect(try decode("\"1\"").integerValue == nil)
    }

    @Test("integerValue truncates fractions and never traps")
    func integers() throws {
        #expect(try decode("1700000000.0").integerValue == 1_700_000_000)
        #expect(JSONValue.number(1_700_000_000.9).integerValue == 1_700_000_000)
        #expect(JSONValue.number(-1.5).integerValue == -1)
        for number in [1e300, -1e300, .infinity, -.infinity, .nan, 0x1p63, -0x1p63] {
            #expect(JSONValue.number(number).integerValue == nil)
        }
        #expect(try decode("18446744073709551615").integerValue == nil, "more than 64 bits with sign")
        #expect(try decode("4611686018427387904").integerValue == 4_611_686_018_427_387_904)
    }

    @Test("each typed view returns nil for other types")
    func views() {
        let value: JSONValue = ["a": ["x", 1, true, nil]]
        #expect(value.objectValue?["a"]?.arrayValue?.count == 4)
        #expect(value.arrayValue == nil && value.stringValue == nil)
        #expect(JSONValue.string("x").stringValue == "x")
        #expect(JSONValue.null.stringValue == nil && JSONValue.null.objectValue == nil)
    }

    @Test(
        "broken JSON throws",
        arguments: ["", "{", "[1", "[1,,2]", "nul", "{\"a\":}", "1 2", "\"\\ud800\""])
    func broken(text: String) {
        #expect(throws: (any Error).self) { try decode(text) }
    }

    @Test("excessive nesting is refused")
    func nested() {
        let depth = 100_000
        let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect(throws: (any Error).self) { try decode(text) }
    }

    @Test("a repeated name in a literal has its last value")
    func literal() {
        #expect(["a": 1, "a": 2] as JSONValue == .object(["a": 2]))
    }
}

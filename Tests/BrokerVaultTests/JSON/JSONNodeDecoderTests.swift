import BrokerValues
import BrokerVault
import Foundation
import Testing

@Suite("Decoding JSON nodes")
struct JSONNodeDecoderTests {
    private struct Record: Codable, Equatable {
        enum Kind: String, Codable { case small, large }
        struct Part: Codable, Equatable {
            var place: Int32
            var share: Double
        }
        /// A type that encodes as a single value.
        struct Name: Codable, Equatable {
            var text: String
            init(_ text: String) { self.text = text }
            init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(text)
            }
        }
        var name: Name
        var isOn: Bool
        var count: Int64
        var limit: UInt64
        var kind: Kind
        var note: String?
        var parts: [Part]
        var byName: [String: Part]
        var claims: JSONObject
        var extra: JSONValue?
        var lists: [[String?]]
    }

    private static let record = Record(
        name: .init("n\u{e9}"), isOn: true, count: .min, limit: .max, kind: .large, note: nil,
        parts: [.init(place: -1, share: 0.25)], byName: ["a": .init(place: 2, share: 1e300)],
        claims: ["a": [1, "x", ["b": nil]], "": 1.5, "t": true], extra: ["deep": [[]]], lists: [["x", nil], []])

    private func decode<Value: Decodable>(_ type: Value.Type, _ text: some Collection<UInt8>) throws -> Value {
        try JSONNodeDecoder.decode(type, from: JSONReader.read(text))
    }

    @Test("the decoder restores what Foundation's encoder wrote")
    func roundTrip() throws {
        #expect(try decode(Record.self, JSONEncoder().encode(Self.record)) == Self.record)
    }

    @Test("the encoder's text decodes to the same value, with Foundation's decoder as well")
    func encoder() throws {
        let text = try JSONTextEncoder.encode(Self.record)
        #expect(try decode(Record.self, text) == Self.record)
        #expect(try JSONDecoder().decode(Record.self, from: Data(text)) == Self.record)
        let ours = try JSONSerialization.jsonObject(with: Data(text)) as? NSDictionary
        let theirs = try JSONSerialization.jsonObject(with: JSONEncoder().encode(Self.record)) as? NSDictionary
        #expect(ours != nil && ours == theirs)
    }

    /// Requests containers, and fills them in another order.
    private struct Nested: Encodable {
        enum Key: String, CodingKey { case first, second, third }
        func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: Key.self)
            var list = members.nestedUnkeyedContainer(forKey: .first)
            var inner = members.nestedContainer(keyedBy: Key.self, forKey: .second)
            try inner.encode(1, forKey: .first)
            try list.encode("a")
            try list.encodeNil()
            var again = encoder.container(keyedBy: Key.self)
            try again.encode(true, forKey: .third)
            var pair = list.nestedContainer(keyedBy: Key.self)
            try pair.encodeNil(forKey: .third)
            #expect(list.count == 3)
        }
    }

    @Test("nested containers can be filled in any order")
    func nested() throws {
        let text = String(decoding: try JSONTextEncoder.encode(Nested()), as: UTF8.self)
        #expect(text == #"{"first":["a",null,{"third":null}],"second":{"first":1},"third":true}"#)
    }

    @Test("a value without a JSON text is an error at any depth", arguments: [Double.nan, .infinity, -.infinity])
    func withoutText(number: Double) {
        #expect(throws: EncodingError.self) { try JSONTextEncoder.encode(number) }
        #expect(throws: EncodingError.self) { try JSONTextEncoder.encode([1, number, 2]) }
        #expect(throws: EncodingError.self) { try JSONTextEncoder.encode(["a": ["b": number]]) }
    }

    @Test(
        "a value that is missing, out of range or of another type is an error, as for Foundation's decoder",
        arguments: [
            (#""isOn":true"#, #""isOn":1"#), (#""count":"#, #""count":1"#), (#""count":"#, #""other":"#),
            (#""kind":"large""#, #""kind":"huge""#), (#""kind":"large""#, #""kind":null"#),
            (#""place":-1"#, #""place":3000000000"#), (#""place":-1"#, #""place":"-1""#),
            (#""parts":["#, #""parts":[[],"#), (#""lists":"#, #""lists":{},"l":"#),
            (#""name":"#, #""name":5,"n":"#),
        ])
    func refuses(good: String, bad: String) throws {
        let text = String(decoding: try JSONEncoder().encode(Self.record), as: UTF8.self)
        let broken = text.replacingOccurrences(of: good, with: bad)
        #expect(broken != text)
        #expect(throws: (any Error).self) { try decode(Record.self, broken.utf8) }
        #expect(throws: (any Error).self) { try JSONDecoder().decode(Record.self, from: Data(broken.utf8)) }
    }
}

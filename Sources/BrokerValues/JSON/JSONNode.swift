/// A JSON value as received: numbers as their text, members in order and with repetitions, so that the reader of a message can
/// return an `id` unchanged and refuse a repeated name.
package enum JSONNode: Sendable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONNode])
    case object([JSONMember])

    /// The name of this kind of value, for people.
    package var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

package struct JSONMember: Sendable {
    package let name: String
    package let value: JSONNode
    /// The place of the value's text, in bytes from the start of the line.
    package let range: Range<Int>
}

extension JSONMember {
    /// A member that was not on a line.
    package init(_ name: String, _ value: JSONNode) { self.init(name: name, value: value, range: 0..<0) }

    /// Whether Swift's `==` takes the name for another one, of ASCII letters: only the Kelvin sign, the Greek question mark and
    /// the Greek varia are equivalent to something in ASCII.
    fileprivate var onlyLooksLikeASCII: Bool {
        !name.utf8.allSatisfy { $0 < 0x80 }
            && name.unicodeScalars.contains { [0x212a, 0x37e, 0x1fef].contains($0.value) }
    }
}

extension JSONNode {
    /// The value without its text. Of repeated names the last member counts, as with every common JSON library. Members whose names
    /// only look like other ones are left out.
    package var value: JSONValue {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .number(let text): Self.number(text)
        case .string(let value): .string(value)
        case .array(let elements): .array(elements.map(\.value))
        case .object(let members):
            .object(
                JSONObject(
                    members.lazy.filter { !$0.onlyLooksLikeASCII }.map { ($0.name, $0.value.value) },
                    uniquingKeysWith: { $1 }))
        }
    }

    /// The value of a number. 1e3 and 1.0 are whole numbers, too; numbers beyond the range of a Double are infinity.
    private static func number(_ text: String) -> JSONValue {
        if let whole = Int64(text) { return .integer(whole) }
        let value = Double(text) ?? .nan
        return Int64(exactly: value).map(JSONValue.integer) ?? .number(value)
    }

    package subscript(name: String) -> JSONNode? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name.isExactly(name) }?.value
    }
}

import BrokerLink
import BrokerRPC
import BrokerValues

/// Results as the broker wrote them: members in order, numbers as text.
package enum JSONText {
    /// One value and a newline; on several lines if a person reads it.
    package static func line(_ node: JSONNode, readable: Bool) -> String {
        var text = ""
        append(node, to: &text, indentation: readable ? 0 : nil)
        return text + "\n"
    }

    /// The error object that the broker sent, or would have sent.
    package static func node(of error: BrokerClientError) -> JSONNode {
        if let rpc = error.rpc { return node(of: rpc) }
        let value: JSONValue = [
            "code": .integer(RPCError.brokerErrorCode), "message": .string(error.message),
            "data": ["kind": .string(error.code.rawValue), "retryable": .bool(error.isRetryable)],
        ]
        return node(of: value)
    }

    package static func node(of value: some WireValue) -> JSONNode {
        var writer = JSONWriter()
        value.write(to: &writer)
        return (try? writer.bytes.withUnsafeBytes { try JSONReader.read($0, within: .own) }) ?? .null
    }

    private static func append(_ node: JSONNode, to text: inout String, indentation: Int?) {
        switch node {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .number(let number): text += number
        case .string(let string): text += quoted(string)
        case .array(let elements):
            list("[", "]", elements, to: &text, indentation) { append($0, to: &$1, indentation: $2) }
        case .object(let members):
            list("{", "}", members, to: &text, indentation) { member, text, indentation in
                text += quoted(member.name) + (indentation == nil ? ":" : ": ")
                append(member.value, to: &text, indentation: indentation)
            }
        }
    }

    private static func list<Element>(
        _ open: String, _ close: String, _ elements: [Element], to text: inout String, _ indentation: Int?,
        _ body: (Element, inout String, Int?) -> Void
    ) {
        text += open
        let inner = indentation.map { $0 + 2 }
        for (index, element) in elements.enumerated() {
            if index > 0 { text += "," }
            if let inner { text += "\n" + String(repeating: " ", count: inner) }
            body(element, &text, inner)
        }
        if let indentation, !elements.isEmpty { text += "\n" + String(repeating: " ", count: indentation) }
        text += close
    }

    /// Also escapes characters that JSON allows but a terminal may interpret; the value stays the same.
    private static func quoted(_ string: String) -> String {
        var writer = JSONWriter()
        writer.string(string)
        let text = String(decoding: writer.bytes, as: UTF8.self)
        guard !text.unicodeScalars.allSatisfy(\.isSafeToShow) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            if scalar.isSafeToShow { result.unicodeScalars.append(scalar) } else { result += escaped(scalar) }
        }
    }

    /// `\u009b`, or a surrogate pair above U+FFFF.
    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        UTF16.encode(scalar).map { units in
            units.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        } ?? ""
    }
}

import BrokerValues

/// The `id` of a request: a number or a string, kept as its original JSON text, so that 1.0, 1e2 and numbers
/// beyond 64 bits are returned unchanged.
package struct RequestID: Sendable, Hashable {
    package let json: String

    package init(_ number: Int64) { json = String(number) }

    /// Makes an id from digits.
    init(digits: ArraySlice<UInt8>) { json = String(decoding: digits, as: UTF8.self) }

    /// - Returns: `nil` if it is neither a number nor a string (JSON-RPC 2.0, section 4).
    init?(_ member: JSONMember, in line: UnsafeRawBufferPointer) {
        switch member.value {
        case .number(let text): json = text
        case .string: json = String(decoding: line[member.range], as: UTF8.self)
        default: return nil
        }
    }

    /// The number of an id that this side made.
    package var number: Int64? { Int64(json) }
}

import BrokerValues

/// Statements about a person from a verified ID token (OpenID Connect Core, section 5.1).
public struct Claims: Sendable, Hashable {
    /// One claim's value.
    public enum Value: Sendable, Hashable {
        /// JSON `null`.
        case null
        /// `true` or `false`.
        case bool(Bool)
        /// A whole number.
        case integer(Int64)
        /// Any other number.
        case number(Double)
        /// A text.
        case string(String)
        /// A list.
        case array([Value])
        /// Claims inside the claim, such as `address`.
        case object([String: Value])
    }

    private let values: [String: Value]

    init(_ object: JSONObject) {
        values = object.mapValues(Value.init)
    }

    /// The names of all claims, sorted.
    public var names: [String] { values.keys.sorted() }

    /// A claim of any type; nil when it is not there.
    public subscript(name: String) -> Value? { values[name] }

    /// A claim that is a text; nil when it is not there, or no text.
    public func string(_ name: String) -> String? {
        if case .string(let text) = values[name] { text } else { nil }
    }
}

extension Claims.Value {
    fileprivate init(_ value: JSONValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .number(let value): self = .number(value)
        case .string(let value): self = .string(value)
        case .array(let values): self = .array(values.map(Self.init))
        case .object(let object): self = .object(object.mapValues(Self.init))
        }
    }
}

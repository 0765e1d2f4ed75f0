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

    private let object: JSONObject

    init(_ object: JSONObject) { self.object = object }

    /// The names of all claims, sorted.
    public var names: [String] { object.keys.sorted() }

    /// A claim of any type; `nil` if it is missing.
    public subscript(name: String) -> Value? { object[name].map(Value.init) }

    /// A claim that is a text; `nil` if it is missing or not a text.
    public func string(_ name: String) -> String? {
        object[name]?.stringValue
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

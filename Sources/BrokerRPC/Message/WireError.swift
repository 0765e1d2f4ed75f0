import BrokerValues

/// A value that violates the method's definition. For params it becomes -32602.
package struct WireError: Error, Sendable, Equatable {
    /// The place, as `scopes[1]` or `account.id`; empty for the params as a whole.
    package private(set) var field: String
    /// Follows the field's name: "must be a string, not a number".
    package let problem: String

    package init(_ problem: String, field: String = "") {
        self.field = field
        self.problem = problem
    }

    @inline(never)
    static func expected(_ what: String, not node: JSONNode) -> WireError {
        WireError("must be \(what), not \(node.kindName)")
    }

    // The code that reads messages is compiled for each type; rare cases are not inlined and therefore exist once.

    @inline(never)
    static func unknown(_ name: String) -> WireError { WireError("is not known here", field: name) }

    @inline(never)
    static func repeated(_ name: String) -> WireError { WireError("is given twice", field: name) }

    @inline(never)
    static func missing(_ name: String) -> WireError { WireError("is missing", field: name) }

    @inline(never)
    static func noneOf(_ values: [String]) -> WireError {
        WireError("must be one of " + values.map { "\"\($0)\"" }.joined(separator: ", "))
    }

    @inline(never)
    func inside(_ name: String) -> WireError {
        var copy = self
        copy.field = field.isEmpty || field.hasPrefix("[") ? name + field : "\(name).\(field)"
        return copy
    }
}

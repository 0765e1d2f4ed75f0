import BrokerValues

/// A value of a message that is not what the method's definition says. It becomes -32602 for params.
package struct WireError: Error, Sendable, Equatable {
    /// The place, as `scopes[1]` or `account.id`; empty for the params as a whole.
    package private(set) var field: String
    /// Goes after the field's name: "must be a string, not a number".
    package let problem: String

    package init(_ problem: String, field: String = "") {
        self.field = field
        self.problem = problem
    }

    @inline(never)
    static func expected(_ what: String, not node: JSONNode) -> WireError {
        WireError("must be \(what), not \(node.kindName)")
    }

    // Messages are read by code that is compiled for each kind; what is rare is not, for it is there only once.

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

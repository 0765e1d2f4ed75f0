import BrokerRPC

/// A request of any method. The connections use this type because code that is generic in methods would be compiled for each one.
package struct Request: Sendable {
    /// The line with its newline, for the given id.
    let line: @Sendable (Int64) -> [UInt8]
    /// Whether executing it twice does no harm.
    let isIdempotent: Bool

    package init<Method: BrokerMethod>(_ method: Method.Type, _ params: Method.Params) {
        line = { method.requestLine(id: $0, params) }
        isIdempotent = method.isIdempotent
    }
}

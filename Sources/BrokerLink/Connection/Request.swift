import BrokerRPC

/// A request of any method. The connections go by this: what is generic in methods would be compiled for each of them.
package struct Request: Sendable {
    /// With its end, for the id that it is given.
    let line: @Sendable (Int64) -> [UInt8]
    /// Whether it does no harm to carry it out twice.
    let isIdempotent: Bool

    package init<Method: BrokerMethod>(_ method: Method.Type, _ params: Method.Params) {
        line = { method.requestLine(id: $0, params) }
        isIdempotent = method.isIdempotent
    }
}

/// A value that belongs to a reactor's thread, carried around elsewhere.
///
/// `@unchecked Sendable`: `value` can be had on that thread only.
package struct ReactorBound<Value>: @unchecked Sendable {
    private let bound: Value
    private let reactor: Reactor

    /// - Parameter value: from the reactor's thread, or from nowhere else any more.
    package init(_ value: Value, of reactor: Reactor) {
        bound = value
        self.reactor = reactor
    }

    package var value: Value {
        precondition(reactor.isCurrent, "this belongs to another thread")
        return bound
    }
}

/// A value that belongs to a reactor's thread, passed through other threads.
///
/// `@unchecked Sendable`: `value` is accessible on that thread only.
package struct ReactorBound<Value>: @unchecked Sendable {
    private let bound: Value
    private let reactor: Reactor

    /// - Parameter value: from the reactor's thread, or no longer used by any other.
    package init(_ value: Value, of reactor: Reactor) {
        bound = value
        self.reactor = reactor
    }

    package var value: Value {
        precondition(reactor.isCurrent, "this belongs to another thread")
        return bound
    }
}

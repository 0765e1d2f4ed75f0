import Synchronization

/// Delivers events to subscribers as they happen, in the order of subscription. Events are not kept for later subscribers.
package final class Broadcast<Event: Sendable>: Sendable {
    /// Called on the thread on which the event happened: it must not wait.
    package typealias Deliver = @Sendable (Event) -> Void

    private struct State {
        var next: UInt64 = 0
        var subscribers: [UInt64: Deliver] = [:]
    }
    private let state = Mutex(State())

    package init() {}

    /// - Returns: an object whose release ends the subscription.
    package func subscribe(_ deliver: @escaping Deliver) -> Subscription {
        let id = state.withLock { state in
            state.next += 1
            state.subscribers[state.next] = deliver
            return state.next
        }
        return Subscription { [weak self] in self?.end(id) }
    }

    private func end(_ id: UInt64) { state.withLock { $0.subscribers[id] = nil } }

    package func tell(_ event: Event) {
        let listening = state.withLock { state in state.subscribers.sorted { $0.key < $1.key }.map(\.value) }
        for deliver in listening { deliver(event) }
    }
}

/// A subscription, or a counted place, that ends when the object is released.
package final class Subscription: Sendable {
    private let end: @Sendable () -> Void

    package init(end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}

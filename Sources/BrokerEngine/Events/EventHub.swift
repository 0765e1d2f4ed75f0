import BrokerModel
import BrokerValues
import Synchronization

/// Tells subscribers what happens, as it happens. Nothing is kept for those who come later.
package final class EventHub: Sendable {
    /// Called on the thread on which the event happened: it must not wait.
    package typealias Deliver = @Sendable (EngineEvent) -> Void

    private struct Subscriber {
        let partition: Partition
        /// Nil: every group's, for the person's own tools.
        let group: GroupID?
        let topics: Set<EventTopic>
        let deliver: Deliver
    }

    private struct State {
        var next: UInt64 = 0
        var subscribers: [UInt64: Subscriber] = [:]
    }
    private let state = Mutex(State())

    /// Ends with the object.
    package final class Subscription: Sendable {
        fileprivate let id: UInt64
        private let hub: EventHub

        fileprivate init(_ id: UInt64, _ hub: EventHub) {
            self.id = id
            self.hub = hub
        }

        deinit { hub.end(id) }
    }

    func subscribe(
        to topics: Set<EventTopic>, group: GroupID?, in partition: Partition, _ deliver: @escaping Deliver
    ) -> Subscription {
        let id = state.withLock { state in
            state.next += 1
            state.subscribers[state.next] = Subscriber(
                partition: partition, group: group, topics: topics, deliver: deliver)
            return state.next
        }
        return Subscription(id, self)
    }

    private func end(_ id: UInt64) { state.withLock { $0.subscribers[id] = nil } }

    func tell(_ event: EngineEvent) {
        let listening = state.withLock { state in
            state.subscribers.sorted { $0.key < $1.key }.map(\.value).filter { subscriber in
                subscriber.partition == event.partition && subscriber.topics.contains(event.topic)
                    && (subscriber.group == nil || subscriber.group == event.group)
            }
        }
        for subscriber in listening { subscriber.deliver(event) }
    }
}

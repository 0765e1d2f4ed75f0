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
        let claimant: Claimant
        let deliver: Deliver
    }

    /// Subscriptions at a time, and of one program or sandbox: a connection with one does not give way to another.
    package static let most = 128
    package static let mostEach = 16

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

    /// - Throws: `throttled`.
    func subscribe(
        to topics: Set<EventTopic>, group: GroupID?, of claimant: Claimant, in partition: Partition,
        _ deliver: @escaping Deliver
    ) throws(BrokerError) -> Subscription {
        let id = try state.withLock { state throws(BrokerError) in
            let own = state.subscribers.values.count(where: { $0.claimant == claimant })
            guard own < Self.mostEach else {
                throw Self.full("This program or sandbox has \(own) subscriptions already; close a connection first.")
            }
            guard state.subscribers.count < Self.most else {
                throw Self.full("The broker has \(Self.most) subscriptions already; try again later.")
            }
            state.next += 1
            state.subscribers[state.next] = Subscriber(
                partition: partition, group: group, topics: topics, claimant: claimant, deliver: deliver)
            return state.next
        }
        return Subscription(id, self)
    }

    private static func full(_ message: String) -> BrokerError {
        BrokerError(.throttled, message, reason: .tooManySubscriptions)
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

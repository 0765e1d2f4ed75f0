import BrokerModel
import BrokerValues
import Synchronization

/// Delivers events of accounts, tokens and sign-ins to subscribers.
package struct EventHub: Sendable {
    /// Called on the thread of the event: it must not block.
    package typealias Deliver = @Sendable (EngineEvent) -> Void

    /// The number of subscriptions of one person. They are limited because a connection with a subscription is not evicted for
    /// another one.
    package static let most = 128
    /// The number of subscriptions of one program or sandbox.
    package static let maximumEach = 16
    /// The number of subscriptions of all sandboxes without a confirmed name together.
    static let maximumOfUnnamed = most / 2

    private let broadcast = Broadcast<EngineEvent>()
    private let places = SubscriberPlaces()

    /// - Parameter group: `nil` for all groups, for the person's own tools.
    /// - Throws: `throttled`.
    func subscribe(
        to topics: Set<EventTopic>, group: GroupID?, of claimant: QuotaOwner, in partition: Partition,
        _ deliver: @escaping Deliver
    ) throws(BrokerError) -> Subscription {
        let place = try places.take(for: claimant, in: partition)
        return broadcast.subscribe { event in
            // The place is released when the subscription, and so this closure, ends.
            _ = place
            guard event.partition == partition, topics.contains(event.topic), group == nil || group == event.group
            else { return }
            deliver(event)
        }
    }

    /// Subscribes the broker itself. The subscription does not count towards the limits.
    func observe(_ deliver: @escaping Deliver) -> Subscription { broadcast.subscribe(deliver) }

    func tell(_ event: EngineEvent) { broadcast.tell(event) }
}

/// The number of subscriptions by owner.
private final class SubscriberPlaces: Sendable {
    private let taken = Mutex<[Partition: [QuotaOwner: Int]]>([:])

    func take(for claimant: QuotaOwner, in partition: Partition) throws(BrokerError) -> Subscription {
        try taken.withLock { all throws(BrokerError) in
            let taken = all[partition] ?? [:]
            let own = taken[claimant, default: 0]
            guard own < EventHub.maximumEach else {
                throw Self.full("This program or sandbox has \(own) subscriptions already; close a connection first.")
            }
            let ofUnnamed = taken.reduce(0) { $0 + ($1.key.isUnnamed ? $1.value : 0) }
            guard !claimant.isUnnamed || ofUnnamed < EventHub.maximumOfUnnamed else {
                throw Self.full(
                    "Sandboxes without a confirmed name have \(ofUnnamed) subscriptions already; close a connection first."
                )
            }
            guard taken.values.reduce(0, +) < EventHub.most else {
                throw Self.full("Your programs have \(EventHub.most) subscriptions already; try again later.")
            }
            all[partition, default: [:]][claimant] = own + 1
        }
        return Subscription { [self] in release(claimant, in: partition) }
    }

    private func release(_ claimant: QuotaOwner, in partition: Partition) {
        taken.withLock { all in
            let left = all[partition]?[claimant, default: 1] ?? 1
            all[partition]?[claimant] = left > 1 ? left - 1 : nil
            if all[partition]?.isEmpty == true { all[partition] = nil }
        }
    }

    private static func full(_ message: String) -> BrokerError {
        BrokerError(.throttled, message, reason: .tooManySubscriptions)
    }
}

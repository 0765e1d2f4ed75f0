import BrokerModel
import BrokerValues
import Synchronization

/// Who is told of what happens to accounts, tokens and sign-ins.
package struct EventHub: Sendable {
    /// Called on the thread on which the event happened: it must not wait.
    package typealias Deliver = @Sendable (EngineEvent) -> Void

    /// Subscriptions of one person at a time, of one program or sandbox, and of all unnamed ones together: a connection with one does
    /// not give way to another.
    package static let most = 128
    package static let mostEach = 16
    static let mostOfUnnamed = most / 2

    private let broadcast = Broadcast<EngineEvent>()
    private let places = SubscriberPlaces()

    /// - Parameter group: nil for every group's, for the person's own tools.
    /// - Throws: `throttled`.
    func subscribe(
        to topics: Set<EventTopic>, group: GroupID?, of claimant: QuotaOwner, in partition: Partition,
        _ deliver: @escaping Deliver
    ) throws(BrokerError) -> Subscription {
        let place = try places.take(for: claimant, in: partition)
        return broadcast.subscribe { event in
            // The place is given back when the subscription, and so this closure, ends.
            _ = place
            guard event.partition == partition, topics.contains(event.topic), group == nil || group == event.group
            else { return }
            deliver(event)
        }
    }

    /// For the broker itself, which takes no place.
    func observe(_ deliver: @escaping Deliver) -> Subscription { broadcast.subscribe(deliver) }

    func tell(_ event: EngineEvent) { broadcast.tell(event) }
}

/// How many subscriptions there are, and whose.
private final class SubscriberPlaces: Sendable {
    private let taken = Mutex<[Partition: [QuotaOwner: Int]]>([:])

    /// Given back with the object.
    final class Place: Sendable {
        private let claimant: QuotaOwner
        private let partition: Partition
        private let places: SubscriberPlaces

        fileprivate init(_ claimant: QuotaOwner, _ partition: Partition, _ places: SubscriberPlaces) {
            self.claimant = claimant
            self.partition = partition
            self.places = places
        }

        deinit { places.release(claimant, in: partition) }
    }

    func take(for claimant: QuotaOwner, in partition: Partition) throws(BrokerError) -> Place {
        try taken.withLock { all throws(BrokerError) in
            let taken = all[partition] ?? [:]
            let own = taken[claimant, default: 0]
            guard own < EventHub.mostEach else {
                throw Self.full("This program or sandbox has \(own) subscriptions already; close a connection first.")
            }
            let ofUnnamed = taken.reduce(0) { $0 + ($1.key.isUnnamed ? $1.value : 0) }
            guard !claimant.isUnnamed || ofUnnamed < EventHub.mostOfUnnamed else {
                throw Self.full(
                    "Sandboxes without a confirmed name have \(ofUnnamed) subscriptions already; close a connection first."
                )
            }
            guard taken.values.reduce(0, +) < EventHub.most else {
                throw Self.full("Your programs have \(EventHub.most) subscriptions already; try again later.")
            }
            all[partition, default: [:]][claimant] = own + 1
        }
        return Place(claimant, partition, self)
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

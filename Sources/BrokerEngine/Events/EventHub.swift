import BrokerModel
import BrokerValues
import Synchronization

/// Who is told of what happens to accounts, tokens and sign-ins.
package struct EventHub: Sendable {
    /// Called on the thread on which the event happened: it must not wait.
    package typealias Deliver = @Sendable (EngineEvent) -> Void

    /// Subscriptions at a time, and of one program or sandbox: a connection with one does not give way to another.
    package static let most = 128
    package static let mostEach = 16

    private let broadcast = Broadcast<EngineEvent>()
    private let places = SubscriberPlaces()

    /// - Parameter group: nil for every group's, for the person's own tools.
    /// - Throws: `throttled`.
    func subscribe(
        to topics: Set<EventTopic>, group: GroupID?, of claimant: Claimant, in partition: Partition,
        _ deliver: @escaping Deliver
    ) throws(BrokerError) -> Subscription {
        let place = try places.take(for: claimant)
        return broadcast.subscribe { event in
            // The place is given back when the subscription, and so this closure, ends.
            _ = place
            guard event.partition == partition, topics.contains(event.topic), group == nil || group == event.group
            else { return }
            deliver(event)
        }
    }

    func tell(_ event: EngineEvent) { broadcast.tell(event) }
}

/// How many subscriptions there are, and whose.
private final class SubscriberPlaces: Sendable {
    private let taken = Mutex<[Claimant: Int]>([:])

    /// Given back with the object.
    final class Place: Sendable {
        private let claimant: Claimant
        private let places: SubscriberPlaces

        fileprivate init(_ claimant: Claimant, _ places: SubscriberPlaces) {
            self.claimant = claimant
            self.places = places
        }

        deinit { places.giveBack(claimant) }
    }

    func take(for claimant: Claimant) throws(BrokerError) -> Place {
        try taken.withLock { taken throws(BrokerError) in
            let own = taken[claimant, default: 0]
            guard own < EventHub.mostEach else {
                throw Self.full("This program or sandbox has \(own) subscriptions already; close a connection first.")
            }
            guard taken.values.reduce(0, +) < EventHub.most else {
                throw Self.full("The broker has \(EventHub.most) subscriptions already; try again later.")
            }
            taken[claimant] = own + 1
        }
        return Place(claimant, self)
    }

    private func giveBack(_ claimant: Claimant) {
        taken.withLock { taken in
            let left = taken[claimant, default: 1] - 1
            taken[claimant] = left > 0 ? left : nil
        }
    }

    private static func full(_ message: String) -> BrokerError {
        BrokerError(.throttled, message, reason: .tooManySubscriptions)
    }
}

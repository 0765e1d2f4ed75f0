import BrokerModel
import BrokerValues
import Synchronization

/// The limits of watches, over all connections together.
package final class WatchPlaces: Sendable {
    /// The limit for one connection.
    package static let maximumEach = 64
    /// The limit for all. A user has at most half, and a program a tenth, however many connections it makes (``FairQuota``).
    package static let most = 10_240
    /// Connections that are not evicted because they have watches. A user has at most half, and a program a tenth; the clients of
    /// others connect again, and watch there.
    private static let maximumLasting = 256

    private struct State {
        var places = FairQuota<Partition, QuotaOwner>(limit: most)
        var lasting = FairQuota<Partition, QuotaOwner>(limit: maximumLasting)
    }

    private let state = Mutex(State())

    package init() {}

    /// - Throws: `throttled`.
    package func take(for claimant: QuotaOwner, of payer: Partition) throws(BrokerError) -> Subscription {
        let claimant = claimant.orAllUnnamed
        guard state.withLock({ $0.places.take(for: claimant, of: payer) }) else {
            throw Self.tooMany("There are too many watches of this program, or of your programs together")
        }
        return Subscription { [weak self] in self?.state.withLock { $0.places.leave(for: claimant, of: payer) } }
    }

    /// - Returns: keeps a connection with watches when the slots run out; `nil` if its program has many such.
    func stay(of claimant: QuotaOwner, _ payer: Partition) -> Subscription? {
        let claimant = claimant.orAllUnnamed
        guard state.withLock({ $0.lasting.take(for: claimant, of: payer) }) else { return nil }
        return Subscription { [weak self] in self?.state.withLock { $0.lasting.leave(for: claimant, of: payer) } }
    }

    static func tooMany(_ sentence: String) -> BrokerError {
        BrokerError(
            .throttled, "\(sentence); end some with token.unwatch, or close connections.", reason: .tooManySubscriptions
        )
    }
}

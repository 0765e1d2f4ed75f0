import BrokerModel
import BrokerValues
import Synchronization

/// One refresh at a time for a refresh token; callers that want the same thing share its outcome.
///
/// A flight belongs to the broker: it runs to its end whoever is still waiting for it.
final class RefreshFlights: Sendable {
    typealias Outcome = Result<AcquiredToken, BrokerError>

    /// What is asked for: flights of one owner with another wish wait for each other, since they spend the same token.
    struct Wish: Sendable, Hashable {
        var scopes: Scopes
        var authority: Authority
        var tokenType: TokenType
        var claims: String?
    }

    enum Boarding: Sendable {
        /// The flight that fulfils the wish: newly started, or under way already.
        case aboard(Task<Outcome, Never>)
        /// Somebody else's wish is being fulfilled; look again when it is done.
        case wait(Task<Outcome, Never>)
    }

    private struct Flight {
        let wish: Wish
        let task: Task<Outcome, Never>
    }

    private let flights = Mutex<[CacheIndex.OwnerKey: Flight]>([:])

    var count: Int { flights.withLock { $0.count } }

    func board(
        _ owner: CacheIndex.OwnerKey, wishing wish: Wish, start: @escaping @Sendable () async -> Outcome
    ) -> Boarding {
        flights.withLock { flights in
            if let flight = flights[owner] { return flight.wish == wish ? .aboard(flight.task) : .wait(flight.task) }
            let task = Task {
                let outcome = await start()
                self.flights.withLock { $0[owner] = nil }
                return outcome
            }
            flights[owner] = Flight(wish: wish, task: task)
            return .aboard(task)
        }
    }

    func finishAll() async {
        while let flight = flights.withLock({ $0.values.first }) { _ = await flight.task.value }
    }
}

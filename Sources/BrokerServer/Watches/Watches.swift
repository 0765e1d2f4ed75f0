import BrokerModel
import BrokerValues
import Synchronization

/// All watches of all connections, and the one timer that wakes them (docs/decisions/0181).
package final class Watches: Sendable {
    /// Of one connection.
    package static let mostEach = 64
    /// Of all. A user has at most half, and a program a tenth, however many connections it makes (``FairQuota``).
    package static let most = 10_240
    /// Connections that do not give way because of their watches. A user has at most half, and a program a tenth; the others'
    /// clients connect again, and watch there.
    private static let mostLasting = 256
    /// The longest sleep: somebody may set the clock.
    private static let longestSleep = Duration.seconds(15)

    private struct State {
        var watches: [ObjectIdentifier: TokenWatch] = [:]
        var places = FairQuota<Partition, QuotaOwner>(limit: most)
        var lasting = FairQuota<Partition, QuotaOwner>(limit: mostLasting)
        var timer: Task<Void, Never>?
        /// Uptime.
        var wakesAt: Duration?
    }

    private let clock: any BrokerClock
    private let state = Mutex(State())

    package init(clock: any BrokerClock) { self.clock = clock }

    // MARK: Places

    /// Given back with the object.
    package final class Place: Sendable {
        private let release: @Sendable () -> Void

        fileprivate init(_ release: @escaping @Sendable () -> Void) { self.release = release }

        deinit { release() }
    }

    /// - Throws: `throttled`.
    package func takePlace(for claimant: QuotaOwner, of payer: Partition) throws(BrokerError) -> Place {
        let claimant = claimant.orAllUnnamed
        guard state.withLock({ $0.places.take(for: claimant, of: payer) }) else {
            throw Self.tooMany("There are too many watches of this program, or of your programs together")
        }
        return Place { [weak self] in self?.state.withLock { $0.places.leave(for: claimant, of: payer) } }
    }

    /// - Returns: what lets a connection with watches stay when the places run out; nil where its program has many such.
    func stay(of claimant: QuotaOwner, _ payer: Partition) -> Place? {
        let claimant = claimant.orAllUnnamed
        guard state.withLock({ $0.lasting.take(for: claimant, of: payer) }) else { return nil }
        return Place { [weak self] in self?.state.withLock { $0.lasting.leave(for: claimant, of: payer) } }
    }

    static func tooMany(_ sentence: String) -> BrokerError {
        BrokerError(
            .throttled, "\(sentence); end some with token.unwatch, or close connections.", reason: .tooManySubscriptions
        )
    }

    // MARK: What goes on

    func add(_ watch: TokenWatch) { state.withLock { $0.watches[ObjectIdentifier(watch)] = watch } }

    func remove(_ watch: TokenWatch) {
        state.withLock { state in
            state.watches[ObjectIdentifier(watch)] = nil
            guard state.watches.isEmpty else { return }
            state.timer?.cancel()
            (state.timer, state.wakesAt) = (nil, nil)
        }
    }

    /// Something happened that may concern some.
    ///
    /// - Parameter soon: false for what happens often.
    func glance(soon: Bool, _ isConcerned: (TokenWatch) -> Bool) {
        for watch in all where isConcerned(watch) { watch.glance(soon: soon) }
    }

    func end(with error: BrokerError) {
        for watch in all { watch.end(telling: error) }
    }

    /// It has to be looked at earlier or later than before.
    func reschedule(_ watch: TokenWatch) {
        if let wait = watch.wait { wake(within: wait) }
    }

    private var all: [TokenWatch] { state.withLock { Array($0.watches.values) } }

    private func wake(within wait: Duration) {
        let now = clock.uptime
        let wakesAt = now + min(max(wait, .zero), Self.longestSleep)
        state.withLock { state in
            guard !state.watches.isEmpty, state.wakesAt.map({ wakesAt < $0 }) ?? true else { return }
            state.timer?.cancel()
            state.wakesAt = wakesAt
            state.timer = Task { [weak self, clock] in
                do { try await clock.sleep(for: wakesAt - now) } catch { return }
                self?.lookAtAll()
            }
        }
    }

    /// Those that are due begin; the others say when they will be.
    private func lookAtAll() {
        let watches = state.withLock { state in
            (state.timer, state.wakesAt) = (nil, nil)
            return Array(state.watches.values)
        }
        var next: Duration?
        for watch in watches {
            guard let wait = watch.wait else { continue }
            if wait > .zero { next = min(next ?? wait, wait) } else { watch.look() }
        }
        if let next { wake(within: next) }
    }
}

import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues
import Synchronization

/// All watches of all connections, with the one timer for their checks (docs/decisions/0021). A watch is checked in a task of its
/// own, once at a time.
final class Watches: Sendable {
    /// The longest sleep: the clock may be set meanwhile.
    private static let longestSleep = Duration.seconds(15)

    private struct State {
        var watches: [ObjectIdentifier: TokenWatch] = [:]
        var timer: Task<Void, Never>?
        /// Uptime.
        var wakesAt: Duration?
    }

    private let checks: WatchChecks
    private let policy: AccessPolicy
    private let clock: any BrokerClock
    private let state = Mutex(State())

    init(checks: WatchChecks, policy: AccessPolicy, clock: any BrokerClock) {
        (self.checks, self.policy, self.clock) = (checks, policy, clock)
    }

    // MARK: Beginning and end

    /// Call when the answer with the first token is on its way.
    func begin(_ watch: TokenWatch) {
        let context = watch.context
        do throws(BrokerError) {
            guard try context.watches.keep(watch.name, { [self] in end(watch, telling: $0) }) else { return }
        } catch {
            return tell(error, about: watch)
        }
        watch.begin()
        state.withLock { $0.watches[ObjectIdentifier(watch)] = watch }
        // Checks for events that occurred before the watch was added.
        glance(at: watch, soon: true)
    }

    func endAll(telling error: BrokerError) {
        for watch in all { end(watch, telling: error) }
    }

    /// - Parameter error: `nil` if the client has gone, or asked for the end.
    private func end(_ watch: TokenWatch, telling error: BrokerError?) {
        let context = watch.context
        if let error {
            guard watch.ends(with: error), context.watches.take(watch.name) != nil else { return }
            tell(error, about: watch)
        }
        watch.end()
        state.withLock { state in
            state.watches[ObjectIdentifier(watch)] = nil
            guard state.watches.isEmpty else { return }
            state.timer?.cancel()
            (state.timer, state.wakesAt) = (nil, nil)
        }
    }

    private func tell(_ error: BrokerError, about watch: TokenWatch) {
        let context = watch.context
        let reported = policy.fitting(error, context.caller).correlated(CorrelationID.make())
        context.notify(TokenEnded.self, .init(watch: watch.name, RPCError(reported)))
    }

    private var all: [TokenWatch] { state.withLock { Array($0.watches.values) } }

    // MARK: Checks

    /// Call when an event may concern some watches.
    ///
    /// - Parameter soon: false for frequent events.
    func glance(soon: Bool, _ isConcerned: (TokenWatch) -> Bool) {
        for watch in all where isConcerned(watch) { glance(at: watch, soon: soon) }
    }

    private func glance(at watch: TokenWatch, soon: Bool) {
        watch.glance(soon: soon)
        schedule(watch)
    }

    private func run(_ watch: TokenWatch) async {
        while let look = watch.next() {
            let result = await checks.look(look, of: watch)
            act(on: result, of: look, watch)
        }
        schedule(watch)
    }

    private func act(on result: WatchResult, of look: WatchSchedule.Look, _ watch: TokenWatch) {
        switch (watch.take(result, of: look), result) {
        case (.goOn, _), (.tell, .same), (.tell, .failed): break
        case (.tell, .another(let newToken)): watch.context.send(newToken.line)
        case (.end(let error), _): end(watch, telling: error)
        }
        if let ending = watch.delivered() { end(watch, telling: ending) }
    }

    // MARK: The timer

    /// Call when the next check of a watch is earlier or later than before.
    private func schedule(_ watch: TokenWatch) {
        if let wait = watch.wait { wake(within: wait) }
    }

    private func wake(within wait: Duration) {
        let now = clock.uptime
        let wakesAt = now + min(max(wait, .zero), Self.longestSleep)
        state.withLock { state in
            guard !state.watches.isEmpty, state.wakesAt.map({ wakesAt < $0 }) ?? true else { return }
            state.timer?.cancel()
            state.wakesAt = wakesAt
            state.timer = Task { [weak self, clock] in
                do { try await clock.sleep(for: wakesAt - now) } catch { return }
                self?.checkAll()
            }
        }
    }

    /// Begins the due checks, and schedules the next one.
    private func checkAll() {
        let watches = state.withLock { state in
            (state.timer, state.wakesAt) = (nil, nil)
            return Array(state.watches.values)
        }
        var next: Duration?
        for watch in watches {
            guard let wait = watch.wait else { continue }
            if wait > .zero { next = min(next ?? wait, wait) } else { watch.check { [self] in await run(watch) } }
        }
        if let next { wake(within: next) }
    }
}

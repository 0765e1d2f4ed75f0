import BrokerModel
import BrokerValues
import Synchronization

/// How often a caller may have the broker itself open a browser: each window takes the person's attention.
package final class BrowserAllowance: Sendable {
    /// Openings within ``window``.
    static let openings = 10
    static let window = Duration.seconds(60)
    /// Callers that are kept in mind; who opened nothing for the longest goes first.
    static let callers = 256

    private let clock: any BrokerClock
    /// When each caller had a browser opened, the oldest first.
    private let openings = Mutex<[Key: [Duration]]>([:])

    private struct Key: Hashable {
        let partition: Partition
        let claimant: Claimant
    }

    package init(clock: any BrokerClock) { self.clock = clock }

    /// - Throws: `throttled`, and when to try again.
    package func take(for caller: Caller) throws(BrokerError) {
        let key = Key(partition: caller.partition, claimant: caller.spender.orAllUnnamed)
        let now = clock.uptime
        let wait: Duration? = openings.withLock { openings in
            var recent = (openings[key] ?? []).filter { now - $0 < Self.window }
            if recent.count >= Self.openings, let first = recent.first { return Self.window - (now - first) }
            recent.append(now)
            if openings[key] == nil, openings.count >= Self.callers {
                let quietest = openings.min { ($0.value.last ?? .zero) < ($1.value.last ?? .zero) }
                if let quietest { openings[quietest.key] = nil }
            }
            openings[key] = recent
            return nil
        }
        guard let wait else { return }
        let seconds = wait.components.seconds + 1
        throw BrokerError(
            .throttled,
            "\(caller.id) has had \(Self.openings) browser windows opened within a minute; try again in \(seconds.inSeconds)."
        ) {
            $0.caller = caller.id
            $0.retryAfter = Int(seconds)
        }
    }
}

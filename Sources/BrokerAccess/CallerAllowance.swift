import BrokerModel
import BrokerValues
import Synchronization

/// Limits how often a caller may take actions that people or other programs notice.
package final class CallerAllowance: Sendable {
    package struct Limit: Sendable {
        let count: Int
        let window: Duration
        /// The limited action, as part of a sentence.
        let words: String

        /// Browser windows opened by the broker itself: each takes the person's attention.
        package static let browsers = Limit(
            count: 10, window: .seconds(60), words: "had 10 browser windows opened within a minute")
        /// Sign-ins and sign-outs in a browser, whichever program opens it: every listener of the group learns of each.
        package static let interactions = Limit(
            count: 300, window: .seconds(60), words: "begun 300 sign-ins within a minute")
    }

    /// The number of callers that are remembered; the one that was idle for longest is forgotten first.
    static let callers = 256

    private let limit: Limit
    private let clock: any BrokerClock
    /// Times of each caller's uses, oldest first.
    private let uses = Mutex<[Key: [Duration]]>([:])

    private struct Key: Hashable {
        let partition: Partition
        let claimant: QuotaOwner
    }

    package init(_ limit: Limit, clock: any BrokerClock) {
        self.limit = limit
        self.clock = clock
    }

    /// Counts a use of the limited action.
    ///
    /// - Throws: `throttled`, with the time to try again.
    package func take(for caller: Caller) throws(BrokerError) {
        let key = Key(partition: caller.partition, claimant: caller.spender.orAllUnnamed)
        let now = clock.uptime
        let wait: Duration? = uses.withLock { [limit] uses in
            var recent = (uses[key] ?? []).filter { now - $0 < limit.window }
            if recent.count >= limit.count, let first = recent.first { return limit.window - (now - first) }
            recent.append(now)
            if uses[key] == nil, uses.count >= Self.callers {
                let quietest = uses.min { ($0.value.last ?? .zero) < ($1.value.last ?? .zero) }
                if let quietest { uses[quietest.key] = nil }
            }
            uses[key] = recent
            return nil
        }
        guard let wait else { return }
        let seconds = wait.components.seconds + 1
        throw BrokerError(
            .throttled, "\(caller.id) has \(limit.words); try again in \(seconds.inSeconds)."
        ) {
            $0.caller = caller.id
            $0.retryAfter = Int(seconds)
        }
    }
}

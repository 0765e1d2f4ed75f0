import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// Renewals in the background of tokens that are still good: one at a time for an owner, and a pause after a failure,
/// which is nobody's business but the log's.
final class RefreshAhead: Sendable {
    private struct State {
        var renewals = RateLimitedWork<CacheIndex.OwnerKey>(limit: RefreshAhead.limit)
        var isStopped = false
    }

    static let limit = 4_096
    private let state = Mutex(State())

    /// - Returns: whether the caller shall start one. Quick: part of the hot path.
    func begin(_ owner: CacheIndex.OwnerKey, at now: Duration) -> Bool {
        state.withLock { !$0.isStopped && $0.renewals.begin(owner, of: owner.group, at: now) == .new }
    }

    /// - Parameter failure: nil when the token is new.
    func end(_ owner: CacheIndex.OwnerKey, _ failure: BrokerError?, at now: Duration) {
        let pause = failure.map { failure in
            max(
                min(.seconds(failure.details.retryAfter ?? 0), RequestThrottle.longestPause),
                RequestThrottle.usualPause)
        }
        state.withLock { $0.renewals.end(owner, restingUntil: pause.map { now + $0 }) }
    }

    func stop() { state.withLock { $0.isStopped = true } }
}

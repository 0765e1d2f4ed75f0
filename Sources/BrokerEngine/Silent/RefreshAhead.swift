import BrokerModel
import BrokerTokenCache
import BrokerValues
import Logging
import Synchronization

/// Background renewals of tokens that are still valid: one at a time for an owner, and a pause after a failure, which is only
/// logged.
final class RefreshAhead: Sendable {
    private struct State {
        var renewals = RateLimitedWork<OwnerKey>(limit: RefreshAhead.limit)
        var isStopped = false
    }

    static let limit = 4_096
    private let state = Mutex(State())

    /// - Returns: whether the caller has to start one. Quick: part of the hot path.
    func begin(_ owner: OwnerKey, at now: Duration) -> Bool {
        state.withLock { !$0.isStopped && $0.renewals.begin(owner, of: owner.group, at: now) == .new }
    }

    /// - Parameter failure: `nil` if the token is new.
    func end(_ owner: OwnerKey, _ failure: BrokerError?, at now: Duration) {
        let pause = failure.map { failure in
            max(
                min(.seconds(failure.details.retryAfter ?? 0), RequestThrottle.longestPause),
                RequestThrottle.usualPause)
        }
        state.withLock { $0.renewals.end(owner, restingUntil: pause.map { now + $0 }) }
    }

    func stop() { state.withLock { $0.isStopped = true } }
}

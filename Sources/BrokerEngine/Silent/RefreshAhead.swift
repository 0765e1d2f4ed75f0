import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// Renewals in the background of tokens that are still good: one at a time for an owner, and a pause after a failure,
/// which is nobody's business but the log's.
final class RefreshAhead: Sendable {
    private enum Phase {
        case running
        case pausing(until: Duration)
    }

    private struct State {
        var phases: [CacheIndex.OwnerKey: Phase] = [:]
        var isStopped = false
    }

    static let limit = 512
    private let state = Mutex(State())

    /// - Returns: whether the caller shall start one. Quick: part of the hot path.
    func begin(_ owner: CacheIndex.OwnerKey, at now: Duration) -> Bool {
        state.withLock { state in
            switch state.phases[owner] {
            case .running?: return false
            case .pausing(let until)? where now < until: return false
            default: break
            }
            guard !state.isStopped, state.phases.count < Self.limit || state.phases[owner] != nil else { return false }
            state.phases[owner] = .running
            return true
        }
    }

    /// - Parameter failure: nil when the token is new.
    func end(_ owner: CacheIndex.OwnerKey, _ failure: BrokerError?, at now: Duration) {
        state.withLock { state in
            guard let failure else {
                state.phases[owner] = nil
                return
            }
            let asked = min(.seconds(failure.details.retryAfter ?? 0), RequestThrottle.longestPause)
            state.phases[owner] = .pausing(until: now + max(asked, RequestThrottle.usualPause))
            // Pauses that are over say nothing any more.
            if state.phases.count >= Self.limit {
                state.phases = state.phases.filter {
                    if case .pausing(let until) = $0.value { now < until } else { true }
                }
            }
        }
    }

    func stop() { state.withLock { $0.isStopped = true } }
}

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

extension SilentAcquisition {
    /// Starts a renewal when one is due; never waits, never fails.
    func renewIfDue(
        _ token: StoredRecord<AccessTokenRecord>, for request: SilentRequest, owner: CacheIndex.OwnerKey
    ) {
        let rule = RefreshAheadRule(now: services.clock.now, share: services.settings().refreshShare)
        guard rule.isDue(token.record), services.ahead.begin(owner, at: services.clock.uptime) else { return }
        // The whole token, not the part of it that this caller wants: what the others use must not be lost.
        var whole = request
        whole.scopes = ScopeRules.toRenew(token.record)
        let renewal = whole
        Task {
            let failure = await renew(token, for: renewal)
            if let failure {
                services.log.warning(
                    "a token could not be renewed ahead of time; it goes on being used",
                    metadata: ["kind": "\(failure.kind.rawValue)", "cause": "\(failure)"])
            }
            services.ahead.end(owner, failure, at: services.clock.uptime)
        }
    }

    private func renew(_ token: StoredRecord<AccessTokenRecord>, for request: SilentRequest) async -> BrokerError? {
        do throws(BrokerError) {
            let situation = try look(at: request)
            let refresh = Refresh(services: services, request: request, replaces: token.sealed.box)
            switch services.flights.join(situation.refreshKey, for: request.refreshRequest, start: refresh.run) {
            case .joined(let flight): _ = try await flight.value.get()
            // Another request of this owner is under way; its answer may renew this token too. The next caller sees.
            case .wait(let flight): _ = await flight.value
            }
            return nil
        } catch {
            return error
        }
    }
}

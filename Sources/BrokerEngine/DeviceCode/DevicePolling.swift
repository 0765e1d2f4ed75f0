import BrokerModel
import BrokerValues

/// When to poll the token endpoint next, while the person signs in on another device (RFC 8628, section 3.5). Pure: pauses follow
/// from the responses and the time left.
package struct DevicePolling: Sendable, Equatable {
    /// The result of an attempt at the token endpoint.
    package enum Answer: Sendable, Equatable {
        /// The person is not done.
        case pending
        /// The person is not done, and the broker polled too often. The seconds to wait, if the provider says.
        case slowDown(retryAfter: Int?)
        /// There was no response, or none about the code. The seconds to wait, if the provider says.
        case trouble(retryAfter: Int?)
        /// The code has expired.
        case expired
        /// The person refused.
        case denied
        /// Any other refusal by the provider: polling again would change nothing.
        case failed
    }

    package enum Step: Sendable, Equatable {
        case wait(Duration)
        /// The person did not finish in time.
        case timedOut
        case denied
        case failed
    }

    /// The end of polling, as ``BrokerClock/uptime``.
    private let deadline: Duration
    /// The provider's minimum; it only grows.
    package private(set) var interval: Duration
    /// Doubled for each failure in a row, so that a provider in trouble is polled less and less.
    private var backoff: Duration

    package static let longestBackoff = Duration.seconds(60)

    /// - Parameters:
    ///   - interval: seconds, as the provider said; less than one counts as one.
    ///   - deadline: when the code expires or the caller stops waiting.
    package init(interval: Int64, deadline: Duration) {
        self.interval = .seconds(min(max(interval, 1), 3600))
        self.deadline = deadline
        backoff = self.interval
    }

    /// The next step.
    ///
    /// - Parameter answer: `nil` before the first attempt, which waits too: no person types that fast.
    package mutating func next(after answer: Answer?, at now: Duration) -> Step {
        switch answer {
        case nil, .pending:
            backoff = interval
        case .slowDown(let retryAfter):
            interval += .seconds(5)
            backoff = interval
            if let retryAfter { return pause(max(interval, .seconds(retryAfter)), at: now) }
        case .trouble(let retryAfter):
            backoff = max(interval, min(backoff * 2, Self.longestBackoff))
            // The provider's own value counts, for this pause alone.
            if let retryAfter { return pause(max(interval, .seconds(retryAfter)), at: now) }
        case .expired: return .timedOut
        case .denied: return .denied
        case .failed: return .failed
        }
        return pause(backoff, at: now)
    }

    package func isOver(at now: Duration) -> Bool { now >= deadline }

    private func pause(_ pause: Duration, at now: Duration) -> Step {
        isOver(at: now) ? .timedOut : .wait(min(pause, deadline - now))
    }
}

extension DevicePolling.Answer {
    /// The error codes of RFC 8628, section 3.5, and the names that Entra gives two of them.
    package init(_ error: ProviderError) {
        switch error {
        // The provider was reached for the code. A certificate or a proxy that is in the way now is mostly that of a
        // captive portal.
        case .offline, .outcomeUnknown, .untrusted, .refusedByProxy: self = .trouble(retryAfter: nil)
        case .unavailable(_, let retryAfter, _): self = .trouble(retryAfter: retryAfter)
        case .invalidResponse, .unusableTokens, .refusedWithoutReason, .notOffered: self = .failed
        case .refused(let refusal):
            switch refusal.error {
            case "authorization_pending": self = .pending
            case "slow_down": self = .slowDown(retryAfter: refusal.retryAfter)
            case "expired_token", "code_expired": self = .expired
            // RFC 6749's name for an expired code, which some providers use here as well. With a second code it is about the
            // person, who is done: not assigned, no consent, conditional access (Entra).
            case "invalid_grant": self = refusal.hasSecondCode ? .failed : .expired
            case "access_denied", "authorization_declined": self = .denied
            case "temporarily_unavailable", "server_error", "use_dpop_nonce": self = .trouble(retryAfter: nil)
            default: self = .failed
            }
        }
    }
}

extension OAuthRefusal {
    fileprivate var hasSecondCode: Bool { !(subError ?? "").isEmpty || !errorCodes.isEmpty }
}

import BrokerModel
import BrokerValues

/// When a watch looks at its token again, and the outcome. Pure: the token's times are wall-clock seconds, pauses are measured by
/// ``BrokerClock/uptime`` (docs/decisions/0021).
package struct WatchSchedule: Sendable {
    /// The times of the token that the client has.
    package struct Times: Sendable, Equatable {
        package var cachedAt: NumericDate
        /// When it may be renewed although it is valid, if ever.
        package var renewal: NumericDate?
        /// When it stops answering the watch's requests.
        package var leaving: NumericDate
        package var end: NumericDate

        package init(cachedAt: NumericDate, renewal: NumericDate? = nil, leaving: NumericDate, end: NumericDate) {
            (self.cachedAt, self.renewal, self.leaving, self.end) = (cachedAt, renewal, leaving, end)
        }

        /// The first of these times after a moment.
        fileprivate func next(after moment: NumericDate) -> NumericDate? {
            [renewal, leaving, end].compactMap(\.self).filter { $0 > moment }.min()
        }
    }

    package enum Look: Sendable, Equatable {
        /// Make a silent request.
        case renewal
        /// Look whether the cache has another token or the watch is over, without asking a provider.
        case glance
    }

    package enum Finding: Sendable {
        case another(Times)
        case same
        case failed(BrokerError)
    }

    package enum Step: Sendable {
        case goOn
        case tell
        case end(BrokerError)
    }

    /// The minimum time between renewals, however short tokens live.
    package static let shortestPause = Duration.seconds(2)
    package static let longestPause = Duration.seconds(60)
    /// The minimum time between looks at the cache for other callers' refreshes.
    package static let glancePause = Duration.seconds(1)
    /// A look that is this many seconds late means a suspend or a changed clock.
    package static let lateness: NumericDate = 30
    /// How long a late watch keeps trying with an expired token: a network takes a while to come back.
    package static let grace = Duration.seconds(60)

    private var times: Times
    /// The last look for a renewal.
    private var lookedAt: NumericDate
    private var failures = 0
    private var retryAt: Duration?
    /// The earliest time for the next one.
    private var earliest: Duration
    private var glanceAt: Duration?
    private var glancedAt: Duration?
    private var graceUntil: Duration?

    package init(_ times: Times, at now: NumericDate, _ uptime: Duration) {
        self.times = times
        lookedAt = now
        earliest = uptime + Self.shortestPause
        begin(at: now, uptime)
    }

    /// Whether the client's token no longer answers a request.
    package func hasLeft(at now: NumericDate) -> Bool { now >= times.leaving }

    /// Called after a change of the account or of the caller's rights.
    ///
    /// - Parameter soon: false for frequent events, such as a refresh.
    package mutating func glance(soon: Bool, at uptime: Duration) {
        let wanted = soon ? uptime : max(uptime, glancedAt.map { $0 + Self.glancePause } ?? uptime)
        glanceAt = min(glanceAt ?? wanted, wanted)
    }

    /// The time until the next look; zero or less if it is due.
    package func wait(at now: NumericDate, _ uptime: Duration) -> Duration {
        let renewal = renewalWait(at: now, uptime)
        guard let glanceAt else { return renewal }
        return min(renewal, glanceAt - uptime)
    }

    /// Begins the look that is due.
    package mutating func look(at now: NumericDate, _ uptime: Duration) -> Look? {
        if renewalWait(at: now, uptime) <= .zero {
            glanceAt = nil
            return .renewal
        }
        guard let glanceAt, glanceAt <= uptime else { return nil }
        self.glanceAt = nil
        return .glance
    }

    package mutating func found(_ finding: Finding, by look: Look, at now: NumericDate, _ uptime: Duration) -> Step {
        if look == .glance { glancedAt = uptime }
        switch finding {
        case .another(let times):
            self.times = times
            lookedAt = now
            earliest = uptime + Self.shortestPause
            graceUntil = nil
            begin(at: now, uptime)
            return .tell
        case .failed(let error) where !error.isRetryable: return .end(error)
        case .same, .failed:
            guard look == .renewal else { return .goOn }
        }
        if case .failed = finding, failures == 0, now - times.leaving > Self.lateness {
            graceUntil = uptime + Self.grace
        }
        lookedAt = now
        failures += 1
        retryAt = uptime + Self.pause(after: failures)
        guard case .failed(let error) = finding, now >= times.end, uptime >= graceUntil ?? uptime else { return .goOn }
        return .end(error)
    }

    /// Starts with a new token. One that is already due for renewal means a provider that cannot be reached, or tokens without
    /// lifetime.
    private mutating func begin(at now: NumericDate, _ uptime: Duration) {
        let isDue = now >= times.leaving
        failures = isDue ? failures + 1 : 0
        retryAt = isDue ? uptime + Self.pause(after: failures) : nil
    }

    private func renewalWait(at now: NumericDate, _ uptime: Duration) -> Duration {
        var wait = retryAt.map { $0 - uptime }
        // A token from the future means that the clock was set back; if looked at before, it is retried as usual.
        if now < times.cachedAt, lookedAt >= times.cachedAt {
            wait = .zero
        } else if let next = times.next(after: min(lookedAt, now)) {
            let (left, overflow) = next.subtractingReportingOverflow(now)
            let until = Duration.seconds(overflow ? 1 << 40 : min(left, 1 << 40))
            wait = min(wait ?? until, until)
        }
        // Past all of its times and never retried: the client was notified when it ended.
        return max(wait ?? .zero, earliest - uptime)
    }

    private static func pause(after failures: Int) -> Duration {
        min(shortestPause * (1 << min(failures - 1, 5)), longestPause)
    }
}

extension BrokerError {
    /// Whether the same request may succeed later without a person.
    fileprivate var isRetryable: Bool {
        switch kind {
        case .offline, .timedOut, .serverUnavailable, .throttled, .internal, .invalidResponse: true
        default: false
        }
    }
}

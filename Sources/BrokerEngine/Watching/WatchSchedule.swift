import BrokerModel
import BrokerValues

/// When a watch looks at its token again, and what comes of it. Pure: the token's times are wall-clock seconds, pauses are measured by
/// ``BrokerClock/uptime`` (docs/decisions/0181).
package struct WatchSchedule: Sendable {
    /// The times of the token that the client has.
    package struct Times: Sendable, Equatable {
        package var cachedAt: NumericDate
        /// From when on it may be renewed although it is good, if at all.
        package var renewal: NumericDate?
        /// From when on it does not answer a silent request any more.
        package var leaving: NumericDate
        package var end: NumericDate

        package init(cachedAt: NumericDate, renewal: NumericDate? = nil, leaving: NumericDate, end: NumericDate) {
            (self.cachedAt, self.renewal, self.leaving, self.end) = (cachedAt, renewal, leaving, end)
        }

        /// The first of them after a moment.
        fileprivate func next(after moment: NumericDate) -> NumericDate? {
            [renewal, leaving, end].compactMap(\.self).filter { $0 > moment }.min()
        }
    }

    package enum Look: Sendable, Equatable {
        /// A silent request.
        case renewal
        /// Whether the cache has another token, or the watch is over: no provider is asked.
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

    /// From one renewal to the next, however short tokens live.
    package static let shortestPause = Duration.seconds(2)
    package static let longestPause = Duration.seconds(60)
    /// From one look at the cache for a refresh of others to the next.
    package static let glancePause = Duration.seconds(1)
    /// Who begins so many seconds too late was suspended, or the clock was set.
    package static let lateness: NumericDate = 30
    /// For how long such a one goes on trying with a token that has ended: a network takes a while to come back.
    package static let grace = Duration.seconds(60)

    private var times: Times
    /// When it was last looked for a renewal.
    private var lookedAt: NumericDate
    private var failures = 0
    private var retryAt: Duration?
    /// Not before that.
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

    /// Whether the client's token is no answer any more.
    package func hasLeft(at now: NumericDate) -> Bool { now >= times.leaving }

    /// Something happened to the account or to the caller's rights.
    ///
    /// - Parameter soon: false for what happens often, such as a refresh.
    package mutating func glance(soon: Bool, at uptime: Duration) {
        let wanted = soon ? uptime : max(uptime, glancedAt.map { $0 + Self.glancePause } ?? uptime)
        glanceAt = min(glanceAt ?? wanted, wanted)
    }

    /// - Returns: how long until the next look; zero or less for one that is due.
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

    /// With a token that was just had. One that ought to be renewed already comes of a provider that cannot be reached, or whose
    /// tokens live for no time.
    private mutating func begin(at now: NumericDate, _ uptime: Duration) {
        let isDue = now >= times.leaving
        failures = isDue ? failures + 1 : 0
        retryAt = isDue ? uptime + Self.pause(after: failures) : nil
    }

    private func renewalWait(at now: NumericDate, _ uptime: Duration) -> Duration {
        var wait = retryAt.map { $0 - uptime }
        // A token from the future says that the clock went back; looked at once, it is tried again as ever.
        if now < times.cachedAt, lookedAt >= times.cachedAt {
            wait = .zero
        } else if let next = times.next(after: min(lookedAt, now)) {
            let (left, overflow) = next.subtractingReportingOverflow(now)
            let until = Duration.seconds(overflow ? 1 << 40 : min(left, 1 << 40))
            wait = min(wait ?? until, until)
        }
        // Past all of its times and never tried again: it was told when it had ended.
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

import BrokerModel
import BrokerValues

/// For how long a cached token goes on answering a request, while nothing is changed (``TokenBroker/changes``): until it is too
/// old for that, or due to be renewed. Pure.
package struct LastingToken: Sendable {
    private let token: StoredRecord<AccessTokenRecord>
    private let expiry: ExpiryRule
    private let renewal: RefreshAheadRule

    package init(_ token: StoredRecord<AccessTokenRecord>, expiry: ExpiryRule, renewal: RefreshAheadRule) {
        self.token = token
        self.expiry = expiry
        self.renewal = renewal
    }

    package func answers(at now: NumericDate) -> Bool {
        var (expiry, renewal) = (expiry, renewal)
        (expiry.now, renewal.now) = (now, now)
        return expiry.isUsable(token.record) && !renewal.isDue(token.record)
    }
}

extension SilentLook {
    /// - Parameters:
    ///   - token: what ``cached(_:)`` answered.
    ///   - minimumLifetime: that the request asked for.
    /// - Returns: nil for one that is due to be renewed.
    package func lasting(_ token: AcquiredToken, minimumLifetime: Int64?) -> LastingToken? {
        let (buffer, share) = services.settings.read { ($0.expiryBuffer, $0.refreshShare) }
        let now = services.clock.now
        let lasting = LastingToken(
            token.token, expiry: ExpiryRule(now: now, buffer: buffer, minimumLifetime: minimumLifetime),
            renewal: RefreshAheadRule(now: now, share: share))
        return lasting.answers(at: now) ? lasting : nil
    }
}

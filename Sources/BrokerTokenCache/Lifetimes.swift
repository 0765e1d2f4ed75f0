import BrokerModel
import BrokerValues

/// The start and end of a token's validity.
package struct TokenLifetime: Sendable, Equatable {
    package var cachedAt: NumericDate
    package var expiresOn: NumericDate

    package init(cachedAt: NumericDate, expiresOn: NumericDate) {
        self.cachedAt = cachedAt
        self.expiresOn = expiresOn
    }

    package init(_ token: AccessTokenRecord) { self.init(cachedAt: token.cachedAt, expiresOn: token.expiresOn) }

    /// Creates the lifetime of an ID token; `nil` if its end is unknown.
    package init?(_ token: IDTokenRecord) {
        guard let expiresOn = token.expiresOn else { return nil }
        self.init(cachedAt: token.cachedAt, expiresOn: expiresOn)
    }
}

/// Whether a cached access token may still be returned (MSAL, "Cache lookup").
package struct ExpiryRule: Sendable {
    package var now: NumericDate
    /// Seconds before its end at which a token counts as expired, but at most a fifth of its own lifetime: a token that lives for
    /// five minutes would otherwise never be returned again.
    package var buffer: Int64
    /// The minimum remaining lifetime in seconds that the caller requested; it replaces the buffer.
    package var minimumLifetime: Int64?

    package init(now: NumericDate, buffer: Int64, minimumLifetime: Int64? = nil) {
        self.now = now
        self.buffer = buffer
        self.minimumLifetime = minimumLifetime
    }

    package func isUsable(_ token: TokenLifetime) -> Bool {
        isGood(token, for: minimumLifetime ?? buffer(of: token))
    }

    package func isUsable(_ token: AccessTokenRecord) -> Bool { isUsable(TokenLifetime(token)) }

    /// Whether a token may be returned while the provider cannot be reached: it may count as expired, but is not.
    package func isUsableInBuffer(_ token: TokenLifetime) -> Bool { isGood(token, for: minimumLifetime ?? 0) }

    package func isUsableInBuffer(_ token: AccessTokenRecord) -> Bool { isUsableInBuffer(TokenLifetime(token)) }

    /// Whether it has not expired, whatever minimum was requested.
    package func isAlive(_ token: TokenLifetime) -> Bool { isGood(token, for: 0) }

    /// The rule without the requested minimum.
    package var withoutMinimum: ExpiryRule { ExpiryRule(now: now, buffer: buffer) }

    /// The time from which it is not usable. A requested minimum beyond the token's own lifetime is no reason to renew it all the
    /// time: half of the lifetime counts then.
    package func end(of token: TokenLifetime) -> NumericDate {
        let (lifetime, overflow) = token.expiresOn.subtractingReportingOverflow(token.cachedAt)
        let least = min(minimumLifetime ?? buffer(of: token), overflow ? .max : max(lifetime, 0) / 2)
        let (last, isTooEarly) = token.expiresOn.subtractingReportingOverflow(least)
        return isTooEarly || last == .max ? token.expiresOn : min(last + 1, token.expiresOn)
    }

    private func isGood(_ token: TokenLifetime, for least: Int64) -> Bool {
        // A token from the future means that the clock was set back: its age is unknown.
        guard token.cachedAt <= now else { return false }
        let (left, overflow) = token.expiresOn.subtractingReportingOverflow(now)
        // Seconds are whole: with none left the token ended up to a second ago.
        return !overflow && left > 0 && left >= least
    }

    private func buffer(of token: TokenLifetime) -> Int64 {
        let (lifetime, overflow) = token.expiresOn.subtractingReportingOverflow(token.cachedAt)
        return overflow ? buffer : min(buffer, lifetime / 5)
    }

    /// Whether an expired token may be returned while the provider is down: `ext_expires_in` says how long a resource accepts a
    /// token then.
    package func isUsableWhileProviderIsDown(_ token: AccessTokenRecord) -> Bool {
        guard token.cachedAt <= now, let extended = token.extendedExpiresOn else { return false }
        let (left, overflow) = extended.subtractingReportingOverflow(now)
        return !overflow && left > 0 && left >= minimumLifetime ?? 0
    }
}

/// When a cached access token, though still valid, is renewed in the background (MSAL, "Proactive refresh").
package struct RefreshAheadRule: Sendable {
    package var now: NumericDate
    /// Percent of the lifetime after which a token is renewed if its provider does not say when; 0 means never.
    package var share: Int

    package init(now: NumericDate, share: Int) {
        self.now = now
        self.share = share
    }

    package func isDue(_ token: AccessTokenRecord) -> Bool {
        guard let due = Self.due(token, share: share) else { return false }
        return now >= due
    }

    /// No token is renewed at a lower age in seconds, unless a tenth of its lifetime is less: one that was due at once, as with
    /// `refresh_in` 0, would be renewed with every request.
    private static let leastAge: Int64 = 60

    /// The time from which it is renewed; `nil` means never.
    package static func due(_ token: AccessTokenRecord, share: Int) -> NumericDate? {
        let (lifetime, overflow) = token.expiresOn.subtractingReportingOverflow(token.cachedAt)
        guard !overflow, lifetime > 0 else { return token.refreshOn }
        if let refreshOn = token.refreshOn {
            return max(refreshOn, token.cachedAt + max(1, min(leastAge, lifetime / 10)))
        }
        guard share > 0 else { return nil }
        return token.cachedAt + max(1, lifetime / 100 * Int64(share) + lifetime % 100 * Int64(share) / 100)
    }
}

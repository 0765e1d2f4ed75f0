import BrokerModel
import BrokerValues

/// When a cached access token may still be handed out (MSAL, "Cache lookup").
package struct ExpiryRule: Sendable {
    package var now: NumericDate
    package var buffer: Int64
    /// What the caller asked for, if it did; it can only lengthen the buffer.
    package var minimumLifetime: Int64?

    package init(now: NumericDate, buffer: Int64, minimumLifetime: Int64? = nil) {
        self.now = now
        self.buffer = buffer
        self.minimumLifetime = minimumLifetime
    }

    package func isUsable(_ token: AccessTokenRecord) -> Bool {
        // A token from the future says that the clock went back: nothing can be told about its age.
        guard token.cachedAt <= now else { return false }
        let (left, overflow) = token.expiresOn.subtractingReportingOverflow(now)
        // Seconds are whole: with none left the token has ended, up to a second ago.
        return !overflow && left > 0 && left >= max(buffer, minimumLifetime ?? 0)
    }

    /// `ext_expires_in` says how long a resource goes on taking a token while the provider cannot give a new one.
    package func isUsableWhileProviderIsDown(_ token: AccessTokenRecord) -> Bool {
        guard token.cachedAt <= now, let extended = token.extendedExpiresOn else { return false }
        let (left, overflow) = extended.subtractingReportingOverflow(now)
        return !overflow && left > 0 && left >= minimumLifetime ?? 0
    }
}

/// When a cached access token, though still good, is renewed in the background (MSAL, "Proactive refresh").
package struct RefreshAheadRule: Sendable {
    package var now: NumericDate
    /// Percent of the lifetime after which a token is renewed whose provider does not say when; 0 never does.
    package var share: Int

    package init(now: NumericDate, share: Int) {
        self.now = now
        self.share = share
    }

    package func isDue(_ token: AccessTokenRecord) -> Bool {
        if let refreshOn = token.refreshOn { return now >= refreshOn }
        guard share > 0 else { return false }
        let (lifetime, overflow) = token.expiresOn.subtractingReportingOverflow(token.cachedAt)
        guard !overflow, lifetime > 0 else { return false }
        return now >= token.cachedAt + lifetime / 100 * Int64(share) + lifetime % 100 * Int64(share) / 100
    }
}

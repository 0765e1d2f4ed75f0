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
        return !overflow && left >= max(buffer, minimumLifetime ?? 0)
    }
}

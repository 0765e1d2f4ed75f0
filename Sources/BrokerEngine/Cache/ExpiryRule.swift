import BrokerModel
import BrokerValues

/// When a cached access token may still be handed out (MSAL, "Cache lookup").
struct ExpiryRule: Sendable {
    var now: NumericDate
    var buffer: Int64
    /// What the caller asked for, if it did; it can only lengthen the buffer.
    var minimumLifetime: Int64?

    func isUsable(_ token: AccessTokenRecord) -> Bool {
        // A token from the future says that the clock went back: nothing can be told about its age.
        guard token.cachedAt <= now else { return false }
        let needed = max(buffer, minimumLifetime ?? 0)
        return token.expiresOn >= now.addingReportingOverflow(needed).partialValue
    }
}

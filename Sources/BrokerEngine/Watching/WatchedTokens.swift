import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Looks up the tokens of watches without asking a provider.
package struct WatchedTokens: Sendable {
    let lookups: CacheLookup
    let missing: MissingTokens
    let cache: TokenCache
    let gate: LockGate
    let settings: SettingsBox
    let clock: any BrokerClock

    /// The cache's answer now, without asking a provider.
    ///
    /// - Returns: `nil` if a provider would be asked.
    /// - Throws: as ``TokenBroker/acquireSilent(_:)``, also for a valid token of a sign-in that has ended.
    package func glance(_ request: SilentRequest) throws(BrokerError) -> AcquiredToken? {
        guard gate.isOpen else { throw .locked }
        gate.join()
        defer { gate.leave() }
        let lookup = try lookups.look(at: request)
        let reason: ErrorReason
        switch lookup.decision {
        case .refresh: return nil
        case .cached(let token):
            guard token.record.isOfEndedSignIn == true, lookup.spendable.isEmpty else {
                return lookups.answer(token, from: lookup)
            }
            reason = .noTokens
        case .interact(let why): reason = why
        }
        throw missing.error(for: request, reason, lookup.owner).about(lookup.entry.account)
    }

    /// The times at which a watch of this token looks again.
    ///
    /// - Parameter minimumLifetime: the watch's own.
    package func times(of token: AcquiredToken, minimumLifetime: Int64?) -> WatchSchedule.Times {
        let (buffer, share) = settings.read { ($0.expiryBuffer, $0.refreshShare) }
        var lifetime = TokenLifetime(token.token.record)
        var end = lifetime.expiresOn
        if token.lifetimeOf == .idToken, let idTokenEnd = token.idTokenEnd {
            lifetime.expiresOn = idTokenEnd
            end = idTokenEnd
        } else if token.extendedLifetime, let extended = token.token.record.extendedExpiresOn {
            end = extended
        }
        let rule = ExpiryRule(now: clock.now, buffer: buffer, minimumLifetime: minimumLifetime)
        return WatchSchedule.Times(
            cachedAt: lifetime.cachedAt, renewal: RefreshAheadRule.due(token.token.record, share: share),
            leaving: min(rule.end(of: lifetime), end), end: end)
    }

    /// A hash that distinguishes a token from others, and stays the same if the token is sealed again.
    package func fingerprint(of token: AcquiredToken) throws(BrokerError) -> Int {
        try cache.secret(of: token.token.sealed).processHash
    }
}

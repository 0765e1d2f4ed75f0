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

    /// The shortest time in seconds between a renewal and the end of the old token: the clock has whole seconds, so that a look may
    /// be one late, and the refresh takes a while.
    private static let leastLead: Int64 = 5

    /// The minimum lifetime that a watch of this token asks for to get the next one before its end.
    ///
    /// - Parameter asked: the watch's own.
    package func minimumLifetime(of token: AcquiredToken, asked: Int64?) -> Int64? {
        let lifetime = lifetime(of: token)
        return rule(asked).end(of: lifetime) > rule(Self.leastLead).end(of: lifetime) ? Self.leastLead : asked
    }

    /// The times at which a watch of this token looks again.
    ///
    /// - Parameter minimumLifetime: from ``minimumLifetime(of:asked:)``.
    package func times(of token: AcquiredToken, minimumLifetime: Int64?) -> WatchSchedule.Times {
        let (lifetime, record) = (lifetime(of: token), token.token.record)
        let end = (token.extendedLifetime ? record.extendedExpiresOn : nil) ?? lifetime.expiresOn
        return WatchSchedule.Times(
            cachedAt: lifetime.cachedAt, renewal: RefreshAheadRule.due(record, share: settings.read(\.refreshShare)),
            leaving: min(rule(minimumLifetime).end(of: lifetime), end), end: end)
    }

    /// The lifetime of the token that the watch measures.
    private func lifetime(of token: AcquiredToken) -> TokenLifetime {
        var lifetime = TokenLifetime(token.token.record)
        if token.lifetimeOf == .idToken, let idTokenEnd = token.idTokenEnd { lifetime.expiresOn = idTokenEnd }
        return lifetime
    }

    private func rule(_ minimumLifetime: Int64?) -> ExpiryRule {
        ExpiryRule(now: clock.now, buffer: settings.read(\.expiryBuffer), minimumLifetime: minimumLifetime)
    }

    /// A hash that distinguishes a token from others, and stays the same if the token is sealed again.
    package func fingerprint(of token: AcquiredToken) throws(BrokerError) -> Int {
        try cache.secret(of: token.token.sealed).processHash
    }
}

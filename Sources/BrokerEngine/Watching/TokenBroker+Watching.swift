import BrokerModel
import BrokerValues

extension TokenBroker {
    /// What happens to accounts and tokens, in all partitions.
    ///
    /// - Returns: ends when it is let go.
    package func observe(_ deliver: @escaping EventHub.Deliver) -> Subscription { services.events.observe(deliver) }

    /// What the cache answers now, without asking a provider.
    ///
    /// - Returns: nil where a provider would be asked.
    /// - Throws: as ``acquireSilent(_:)``, also for a token that is good and belongs to a sign-in that has ended.
    package func glance(_ request: SilentRequest) throws(BrokerError) -> AcquiredToken? {
        guard gate.isOpen else { throw .locked }
        gate.join()
        defer { gate.leave() }
        let lookup = try memory.look(at: request)
        let reason: ErrorReason
        switch lookup.decision {
        case .refresh: return nil
        case .cached(let token):
            guard token.record.isOfEndedSignIn == true, lookup.spendable.isEmpty else {
                return lookup.answer(token, services)
            }
            reason = .noTokens
        case .interact(let why): reason = why
        }
        throw SilentAcquisition(services: services).nothingToSpend(for: request, reason, lookup.owner)
            .about(lookup.entry.account)
    }

    /// The times of a token by which a watch looks again.
    ///
    /// - Parameter minimumLifetime: that the watch asked for.
    package func times(of token: AcquiredToken, minimumLifetime: Int64?) -> WatchSchedule.Times {
        let (buffer, share) = services.settings.read { ($0.expiryBuffer, $0.refreshShare) }
        var lifetime = TokenLifetime(token.token.record)
        var end = lifetime.expiresOn
        if token.lifetimeOf == .idToken, let idTokenEnd = token.idTokenEnd {
            lifetime.expiresOn = idTokenEnd
            end = idTokenEnd
        } else if token.extendedLifetime, let extended = token.token.record.extendedExpiresOn {
            end = extended
        }
        let rule = ExpiryRule(now: services.clock.now, buffer: buffer, minimumLifetime: minimumLifetime)
        return WatchSchedule.Times(
            cachedAt: lifetime.cachedAt, renewal: RefreshAheadRule.due(token.token.record, share: share),
            leaving: min(rule.end(of: lifetime), end), end: end)
    }

    /// Tells a token from others, also when it is sealed anew.
    package func fingerprint(of token: AcquiredToken) throws(BrokerError) -> Int {
        try services.reading { () throws(VaultError) in try services.vault.secret(of: token.token.sealed) }.processHash
    }
}

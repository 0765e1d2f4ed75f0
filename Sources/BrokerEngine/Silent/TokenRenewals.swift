import BrokerModel
import BrokerTokenCache
import BrokerValues
import Logging

/// Renews tokens in the background before they end.
final class TokenRenewals: Sendable {
    private let lookups: CacheLookup
    private let refresh: Refresh
    private let ahead: RefreshAhead
    private let gate: LockGate
    private let settings: SettingsBox
    private let clock: any BrokerClock
    private let log: Logger

    init(
        lookups: CacheLookup, refresh: Refresh, gate: LockGate, settings: SettingsBox, clock: any BrokerClock,
        log: Logger
    ) {
        (self.lookups, self.refresh, self.gate) = (lookups, refresh, gate)
        (self.settings, self.clock, self.log) = (settings, clock, log)
        ahead = RefreshAhead()
    }

    /// Renews a token if that is due, unless a renewal is in progress; never waits, never fails.
    func beginIfDue(_ token: StoredRecord<AccessTokenRecord>, from lookup: LookupResult) {
        let rule = RefreshAheadRule(now: clock.now, share: settings.read { $0.refreshShare })
        guard rule.isDue(token.record), ahead.begin(lookup.owner, at: clock.uptime) else { return }
        begin(token, for: lookup.request, owner: lookup.owner)
    }

    private func begin(_ token: StoredRecord<AccessTokenRecord>, for request: SilentRequest, owner: OwnerKey) {
        // Scopes that other requests use must not be lost.
        let renewal = SilentRequest(request, forAllOf: token.record)
        gate.join()
        Task {
            defer { gate.leave() }
            let failure = await renew(token, for: renewal)
            if let failure {
                log.warning(
                    "a token could not be renewed ahead of time; it stays in use",
                    metadata: ["kind": "\(failure.kind.rawValue)", "cause": settings.quoted(failure)])
            }
            ahead.end(owner, failure, at: clock.uptime)
        }
    }

    private func renew(_ token: StoredRecord<AccessTokenRecord>, for request: SilentRequest) async -> BrokerError? {
        do throws(BrokerError) {
            switch refresh.join(try lookups.look(at: request), replaces: token.sealed.box) {
            case .joined(let flight): _ = try await flight.value.get()
            // Another request of this owner is in progress; its response may renew this token too. The next caller will see.
            case .wait(let flight): _ = await flight.value
            }
            return nil
        } catch {
            return error
        }
    }

    func stop() { ahead.stop() }
}

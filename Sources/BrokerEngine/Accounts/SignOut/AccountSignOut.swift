import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Implements `accounts.signOut` in stages, each with an outcome of its own. Stages that need the network come last, so that a
/// person who is offline is still signed out here.
struct AccountSignOut: Sendable {
    let listing: AccountListing
    let cache: TokenCache
    let roster: any AppRoster
    let interactions: InteractionRegistry
    let flights: RefreshFlights
    let revocation: TokenRevocation
    let browser: BrowserSignOut
    let events: EventHub
    let settings: SettingsBox
    let clock: any BrokerClock

    func run(
        _ request: SignOutRequest, onOpen: @escaping @Sendable (InteractionOpening) -> Void
    ) async throws(BrokerError) -> SignOutStages {
        let partition = request.partition
        try ExtraParameters.check(request.extraQueryParameters) { EndSessionRequest.reservedParameters.contains($0) }
        let account = try theAccount(request)
        let reach = SignOutReach(
            hasApp: request.app != nil, wipe: request.wipe, isSharedDevice: settings.value.isSharedDevice)
        let members: [GroupMember] =
            if let app = request.app, reach.sparesOthers {
                try roster.members(of: app.effectiveGroup, in: partition)
            } else {
                []
            }
        let local = LocalSignOut(
            reach: reach, app: request.app, members: members, partition: partition, now: clock.now)
        let (done, isPersisted) = try await cache.write(in: partition) { index throws(VaultError) in
            let (change, outcome) = try local.decide(account.stored.record, from: index, cache.vault)
            let prepared = try prepare(outcome, for: account, request)
            // Before the next job in the queue, which may be the result of a refresh or a sign-in. If the write then fails, they
            // have ended for nothing.
            if request.revoke { flights.revoke(outcome.owners) }
            interactions.erase(
                KnownAccounts.PersonKey(account.stored.record), in: partition, with: Self.signedOut,
                where: local.reaches)
            return (change, prepared)
        }
        var stages = SignOutStages()
        stages.local =
            isPersisted
            ? .done : .failed("it is done in memory, but the disk did not take it; the broker goes on trying.")
        if !reach.sparesOthers { stages.wipe = stages.local }
        let apps = apps(for: request)
        tell(done.signedOut.accounts, apps, in: partition)
        if request.revoke {
            let outcome = await revocation.revoke(done.revocable, as: apps, correlationID: request.correlationID)
            stages.revocation = outcome == .done && done.signedOut.isShared ? Self.othersNeedThem : outcome
        }
        if request.fromBrowser, let asker = done.asker {
            let order = BrowserSignOut.Order(
                request: request, app: asker,
                authority: asker.authority.cloud(account.stored.record.environment), idToken: done.idToken,
                username: account.account.username)
            stages.browser = await browser.run(order, onOpen: onOpen)
        } else if request.fromBrowser {
            stages.browser = .failed("no app is registered that could end the browser's session.")
        }
        return stages
    }

    /// Input of the later stages.
    private struct Prepared: Sendable {
        var signedOut: LocalSignOut.Outcome
        var revocable: [TokenRevocation.Revocable] = []
        var asker: AppRegistration?
        var idToken: Secret?
    }

    /// - Throws: if a secret cannot be decrypted; then nobody is signed out.
    private func prepare(
        _ outcome: LocalSignOut.Outcome, for account: KnownAccount, _ request: SignOutRequest
    ) throws(VaultError) -> Prepared {
        var prepared = Prepared(signedOut: outcome, asker: asker(for: account, outcome.idTokens, request))
        for token in outcome.refreshTokens where request.revoke {
            let secret = try cache.vault.secret(of: token.sealed)
            prepared.revocable.append(.init(token: secret, record: token.record))
        }
        if let idToken = prepared.asker.flatMap({ outcome.idTokens[ExactText($0.clientID)] }) {
            prepared.idToken = try cache.vault.secret(of: idToken)
        }
        return prepared
    }

    private static let signedOut = BrokerError(
        .userCanceled,
        "The account was signed out during the sign-in, so nothing of it was kept; sign in again if that was not meant."
    )

    private static let othersNeedThem = SignOutStages.Outcome.failed(
        "another app uses the same tokens; to sign it out, too, name no app, or add wipe if it is of the same group.")

    private func theAccount(_ request: SignOutRequest) throws(BrokerError) -> KnownAccount {
        let account = try listing.require(request.account, for: request.app, in: request.partition)
        let entries: [KnownAccount] =
            if let app = request.app {
                try cache.accounts(of: app, in: request.partition).entries
            } else {
                try cache.reading { () throws(VaultError) in
                    try cache.index.loadEveryAccount(in: request.partition)
                }
            }
        guard let entry = entries.first(where: { $0.account.id == account.id }) else { throw AccountChoice.notFound }
        return entry
    }

    // MARK: Requesting app and authority

    private func apps(for request: SignOutRequest) -> [AppRegistration] {
        (request.app.map { [$0] } ?? []) + roster.apps(in: request.partition)
    }

    /// The app to act as: the browser returns to its redirect URI.
    private func asker(
        for account: KnownAccount, _ idTokens: [ExactText: SealedRecord], _ request: SignOutRequest
    ) -> AppRegistration? {
        guard let place = settings.value.authorities.recorded(account.stored.record.authority) else { return nil }
        let here = apps(for: request).filter { CloudRules.reaches(place, from: $0, in: settings.clouds) }
        // The ID token that is sent is for the account's own provider only.
        return here.first { $0.identity == request.app?.identity }
            ?? here.first { idTokens[ExactText($0.clientID)] != nil } ?? here.first
    }

    /// Notifies each group once.
    private func tell(_ accounts: [KnownAccount], _ apps: [AppRegistration], in partition: Partition) {
        var notified: Set<GroupID> = []
        for entry in accounts where notified.insert(entry.stored.record.group).inserted {
            guard let app = apps.first(where: { $0.effectiveGroup == entry.stored.record.group }) else { continue }
            events.tell(EngineEvent(partition: partition, app: app, .account(.signedOut, entry.account.afterSignOut)))
        }
    }
}

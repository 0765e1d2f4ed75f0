import BrokerModel
import BrokerValues
import Logging

/// `accounts.signOut`: stage after stage, each with its outcome. Stages that need the network come last, so that a person who is
/// offline is still signed out here.
struct AccountSignOut: Sendable {
    let services: EngineServices
    let request: SignOutRequest

    private var partition: Partition { request.partition }

    func run(onOpen: @escaping @Sendable (InteractionOpening) -> Void) async throws(BrokerError) -> SignOutStages {
        try ExtraParameters.check(request.extraQueryParameters) { EndSessionRequest.reservedParameters.contains($0) }
        let account = try theAccount()
        let reach = SignOutReach(
            hasApp: request.app != nil, wipe: request.wipe, isSharedDevice: services.settings().isSharedDevice)
        let members: [GroupMember] =
            if let app = request.app, reach.sparesOthers {
                try services.roster.members(of: app.effectiveGroup, in: partition)
            } else {
                []
            }
        let local = LocalSignOut(
            reach: reach, app: request.app, members: members, partition: partition, now: services.clock.now)
        let (done, isPersisted) = try await services.write(in: partition) { index throws(VaultError) in
            let (change, outcome) = try local.decide(account.stored.record, from: index, services.vault)
            let prepared = try prepare(outcome, for: account)
            // Before the next job in the queue, which may be the result of a refresh.
            if request.revoke { services.flights.revoke(outcome.owners) }
            return (change, prepared)
        }
        var stages = SignOutStages()
        stages.local =
            isPersisted
            ? .done : .failed("it is done in memory, but the disk did not take it; the broker goes on trying.")
        if !reach.sparesOthers { stages.wipe = stages.local }
        tell(done.signedOut.accounts)
        if request.revoke {
            stages.revocation = done.signedOut.isShared ? Self.othersNeedThem : await revocation.revoke(done.revocable)
        }
        if request.fromBrowser, let asker = done.asker {
            stages.browser = await BrowserSignOut(
                services: services, request: request, app: asker,
                authority: asker.authority.cloud(account.stored.record.environment), idToken: done.idToken,
                username: account.account.username
            ).run(onOpen: onOpen)
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
        _ outcome: LocalSignOut.Outcome, for account: KnownAccounts.Entry
    ) throws(VaultError) -> Prepared {
        var prepared = Prepared(signedOut: outcome, asker: asker(for: account, outcome.idTokens))
        for token in outcome.refreshTokens where request.revoke {
            let secret = try services.vault.secret(of: token.sealed)
            prepared.revocable.append(.init(token: secret, record: token.record))
        }
        if let idToken = prepared.asker.flatMap({ outcome.idTokens[ExactText($0.clientID)] }) {
            prepared.idToken = try services.vault.secret(of: idToken)
        }
        return prepared
    }

    private static let othersNeedThem = SignOutStages.Outcome.failed(
        "another app uses the same tokens; add wipe to sign it out, too.")

    private func theAccount() throws(BrokerError) -> KnownAccounts.Entry {
        let account = try AccountListing(services: services).require(
            request.account, for: request.app, in: partition)
        let entries: [KnownAccounts.Entry] =
            if let app = request.app {
                try services.knownAccounts(of: app, in: partition).entries
            } else {
                try services.reading { () throws(VaultError) in
                    try services.index.loadEveryAccount(in: partition)
                }
            }
        guard let entry = entries.first(where: { $0.account.id == account.id }) else { throw AccountChoice.notFound }
        return entry
    }

    // MARK: Requesting app and authority

    private var apps: [AppRegistration] {
        (request.app.map { [$0] } ?? []) + services.roster.apps(in: partition)
    }

    private var revocation: TokenRevocation {
        TokenRevocation(services: services, apps: apps, correlationID: request.correlationID)
    }

    /// The app to act as: the browser returns to its redirect URI.
    private func asker(for account: KnownAccounts.Entry, _ idTokens: [ExactText: SealedRecord]) -> AppRegistration? {
        guard let place = services.settings().authorities.recorded(account.stored.record.authority) else { return nil }
        let here = apps.filter { CloudRules.reaches(place, from: $0, in: services.clouds) }
        // The ID token that is sent is for the account's own provider only.
        return here.first { $0.identity == request.app?.identity }
            ?? here.first { idTokens[ExactText($0.clientID)] != nil } ?? here.first
    }

    /// Notifies each group once.
    private func tell(_ accounts: [KnownAccounts.Entry]) {
        var told: Set<GroupID> = []
        for entry in accounts where told.insert(entry.stored.record.group).inserted {
            guard let app = apps.first(where: { $0.effectiveGroup == entry.stored.record.group }) else { continue }
            var account = entry.account
            account.signedIn = false
            services.events.tell(EngineEvent(partition: partition, app: app, .account(.signedOut, account)))
        }
    }
}

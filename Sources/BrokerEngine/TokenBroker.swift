import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// The engine: what the handlers of BrokerServer call. One method a request; the work is in the folders beside.
package final class TokenBroker: Sendable {
    let services: EngineServices
    package let lock: BrokerLock
    /// Who works with the vault's keys passes it.
    package let gate: LockGate
    package var quota: PartitionQuota { services.quota }
    private let settings: SettingsBox

    /// - Parameters:
    ///   - roster: the registered apps; who else of a group uses a client.
    ///   - browser: for `presentation: "broker"`.
    package init(
        vault: any RecordVault & VaultKeys & BackupStore, provider: any IdentityProvider,
        redirects: any RedirectListener,
        browser: any BrowserOpener, roster: any AppRoster, proofs: any ProofSigner,
        clock: any BrokerClock, random: any RandomSource, settings: EngineSettings = EngineSettings(),
        payer: @escaping @Sendable (Partition) -> Partition = { $0 }, log: Logger
    ) {
        let box = SettingsBox(settings)
        let index = CacheIndex(vault: vault)
        let gate = LockGate(clock: clock)
        self.gate = gate
        self.settings = box
        services = EngineServices(
            vault: vault, provider: provider, redirects: redirects, browser: browser, roster: roster,
            proofs: proofs, clock: clock, random: random, settings: box, log: log, index: index,
            writer: CacheWriter(vault: vault, index: index, clock: clock, settings: { box.value }, log: log),
            flights: RefreshFlights(clock: clock, gate: gate) { .seconds(box.value.answerPatience) },
            gate: gate, interactions: InteractionRegistry(settings: { box.value }, payer: payer), backups: vault,
            transfers: CacheTransfers(clock: clock, random: random),
            quota: PartitionQuota(vault: vault, clock: clock) { box.read(\.partitionQuota) })
        lock = BrokerLock(services: services, keys: vault)
        gate.limitIdleTime(to: settings.idleLimit)
    }

    /// Takes effect with the next request.
    package func apply(_ settings: EngineSettings) {
        self.settings.value = settings
        gate.limitIdleTime(to: settings.idleLimit)
    }

    /// Lets go what a burst brought into memory; to be called when nothing was asked for in a while.
    package func trim() {
        services.index.trim()
        services.throttle.with { $0.rest(at: services.clock.uptime) }
    }

    // MARK: Tokens

    /// The hot path: ``CacheLookup/cached(_:)`` answers from memory without waiting, or returns nil when anything would have to
    /// wait or to be refused. Safe on an event loop. A token that is due to be renewed is answered all the same, and renewed
    /// meanwhile.
    package var memory: CacheLookup { CacheLookup(services: services) }

    /// - Throws: `interactionRequired` when only the person can help; `offline` and `serverUnavailable` when trying
    ///   again later makes sense.
    package func acquireSilent(_ request: SilentRequest) async throws(BrokerError) -> AcquiredToken {
        try await SilentAcquisition(services: services).acquire(request)
    }

    /// - Parameters:
    ///   - onOpen: called once, when the redirect is awaited and the URL may be opened.
    ///   - onJoin: called once instead, when another request for the same has the window.
    package func acquireInteractive(
        _ request: InteractiveRequest, onOpen: @escaping @Sendable (InteractionOpening) -> Void,
        onJoin: @escaping @Sendable (InteractionJoining) -> Void = { _ in }
    ) async throws(BrokerError) -> AcquiredToken {
        try await InteractiveAcquisition(services: services).acquire(request, onOpen: onOpen, onJoin: onJoin)
    }

    /// - Parameter onCode: called once, with what the person is to be shown.
    package func acquireByDeviceCode(
        _ request: DeviceCodeRequest, onCode: @escaping @Sendable (DeviceCodeOpening) -> Void
    ) async throws(BrokerError) -> AcquiredToken {
        try await DeviceCodeAcquisition(services: services, request: request).acquire(onCode: onCode)
    }

    // MARK: Interactions

    /// A redirect received elsewhere: by a URL handler, or pasted by the person.
    ///
    /// - Throws: `invalidParameter` when it belongs to no sign-in that waits, or is no answer that one can take.
    package func complete(redirectURL: Secret, from owner: InteractionOwner) throws(BrokerError) {
        var redirect = RedirectParameters(redirectURL: redirectURL.revealed()[...])
        redirect.isHandedIn = true
        switch services.interactions.deliver(redirect, from: owner) {
        case .taken: return
        // Nothing is asked again where no browser waits.
        case .notExpected, .goesOn:
            throw BrokerError(
                .invalidParameter,
                "This redirect belongs to no sign-in that is waiting; start the sign-in again and use its own redirect."
            )
        case .notAccepted(let why):
            throw BrokerError(
                .invalidParameter,
                "The sign-in cannot take this redirect, and goes on waiting. \(why) Finish it in the window that it opened.",
                reason: .answerNotAccepted)
        }
    }

    /// - Returns: whether there was one to cancel.
    package func cancel(interactionID: String, by owner: InteractionOwner) -> Bool {
        services.interactions.interaction(interactionID, of: owner)?
            .end(BrokerError(.userCanceled, "The sign-in was canceled.")) ?? false
    }

    // MARK: Accounts

    /// - Parameter app: nil lists every group's accounts (for the person's own tools).
    package func accounts(of app: AppRegistration?, includeSignedOut: Bool, in partition: Partition)
        throws(BrokerError) -> [Account]
    {
        let listing = AccountListing(services: services)
        return listing.tellingEnds(
            of: try listing.list(for: app, includeSignedOut: includeSignedOut, in: partition), for: app, in: partition)
    }

    package func account(_ selector: AccountReference, of app: AppRegistration?, in partition: Partition)
        throws(BrokerError) -> Account?
    {
        let listing = AccountListing(services: services)
        let found = try listing.find(selector, for: app, in: partition)
        return listing.tellingEnds(of: [found].compactMap(\.self), for: app, in: partition).first
    }

    /// Whom the person chose for an app that several are signed in to.
    ///
    /// - Returns: the account's id.
    package func defaultAccount(of app: AppRegistration, in partition: Partition) throws(BrokerError) -> String? {
        try DefaultAccount(services: services, app: app, partition: partition).id()
    }

    /// - Parameter selector: nil takes the choice back.
    package func chooseDefault(
        _ selector: AccountReference?, of app: AppRegistration, in partition: Partition
    ) async throws(BrokerError) -> Account? {
        try await DefaultAccount(services: services, app: app, partition: partition).choose(selector)
    }

    /// Takes the account's tokens from one app.
    ///
    /// - Returns: how many tokens the app lost.
    package func remove(_ selector: AccountReference, from app: AppRegistration, in partition: Partition)
        async throws(BrokerError) -> Int
    {
        try await AccountRemoval(services: services, app: app, partition: partition).remove(selector)
    }

    /// The account that is current for an app; the broker remembers that the app was told.
    package func currentAccount(of app: AppRegistration, in partition: Partition)
        async throws(BrokerError) -> CurrentAccounts
    {
        try await CurrentAccountLookup(services: services, app: app, partition: partition).run()
    }

    /// - Parameter onOpen: called once, when the page that ends the browser's session may be opened.
    package func signOut(
        _ request: SignOutRequest, onOpen: @escaping @Sendable (InteractionOpening) -> Void
    ) async throws(BrokerError) -> SignOutStages {
        try await AccountSignOut(services: services, request: request).run(onOpen: onOpen)
    }

    /// Erases an account everywhere: in every group and app.
    ///
    /// - Throws: `accountNotFound`, `ambiguousAccount`.
    package func forget(
        _ selector: AccountReference, revoke: Bool, correlationID: String, in partition: Partition
    ) async throws(BrokerError) -> ErasureReport {
        try await Erasure(
            services: services, partition: partition, account: selector, revoke: revoke, correlationID: correlationID
        ).run()
    }

    package var isSharedDevice: Bool { settings.value.isSharedDevice }

    // MARK: Events

    /// - Parameters:
    ///   - group: nil for every group's (for the person's own tools).
    ///   - deliver: called on the thread on which the event happened: it must not wait.
    /// - Returns: ends the subscription when it is let go.
    /// - Throws: `throttled` when there are too many, or the claimant has.
    package func subscribe(
        to topics: Set<EventTopic>, group: GroupID?, of claimant: QuotaOwner = .unidentified, in partition: Partition,
        _ deliver: @escaping EventHub.Deliver
    ) throws(BrokerError) -> Subscription {
        try services.events.subscribe(to: topics, group: group, of: claimant, in: partition, deliver)
    }

    /// What happens without anybody here having asked for it, of all partitions.
    ///
    /// - Returns: ends when it is let go.
    package func observeProvidersWord(_ deliver: @escaping EventHub.Deliver) -> Subscription {
        services.events.observe { if $0.isProvidersWord { deliver($0) } }
    }

    // MARK: The cache

    /// Takes over accounts and tokens from a file of MSAL's (unified cache schema).
    ///
    /// - Parameters:
    ///   - file: the whole of it or a part; entries that are not in order are reported and left out.
    ///   - app: whose they become; nil gives each registered app what belongs to its client.
    package func importCache(
        _ file: JSONObject, for app: AppRegistration?, in partition: Partition
    ) async throws(BrokerError) -> CacheImportReport {
        try await CacheImport(services: services, partition: partition).run(file, for: app)
    }

    package func cacheStatistics(of partition: Partition) throws(BrokerError) -> CacheStatistics {
        try CacheCounting(services: services, partition: partition).statistics()
    }

    /// Erases all accounts and tokens. The registrations stay.
    package func clearCache(
        revoke: Bool, correlationID: String, in partition: Partition
    ) async throws(BrokerError) -> ErasureReport {
        try await Erasure(services: services, partition: partition, revoke: revoke, correlationID: correlationID).run()
    }

    // MARK: The process

    package var refreshesInFlight: Int { services.flights.count }

    /// How the providers answered.
    package var refreshOutcomes: OutcomeCounts { services.refreshOutcomes }

    /// Sign-ins and sign-outs that wait for a person.
    package var interactionsOpen: Int { services.interactions.count }

    /// For shutdown: people who wait are told, refreshes in flight finish, and what the disk refused is tried once more.
    package func drain() async {
        services.interactions.endAll(
            BrokerError(
                .serverUnavailable, "The broker is stopping; start the sign-in again in a moment.",
                reason: .interrupted))
        services.transfers.refuse(
            with: BrokerError(
                .serverUnavailable, "The broker is stopping; start the export or import again in a moment.",
                reason: .interrupted))
        services.ahead.stop()
        await services.flights.finishAll()
        await services.revocations.finishAll()
        services.writer.stopRetrying()
        if await !services.writer.flush() {
            services.log.critical("tokens could not be written before the broker stopped; those sign-ins may be lost")
        }
    }
}

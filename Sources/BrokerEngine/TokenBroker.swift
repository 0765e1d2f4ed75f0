import BrokerModel
import BrokerTokenCache
import BrokerValues
import Logging

/// The engine as the handlers of BrokerServer call it: a method, or a flow, for each request.
package final class TokenBroker: Sendable {
    private let engine: Engine
    private let shared: SharedParts
    private let transfers: CacheTransfers
    package let stop: StopSignal
    private let log: Logger
    package let lock: BrokerLock
    package let backups: CacheBackups
    package let quota: PartitionQuota

    /// - Parameters:
    ///   - roster: the registered apps; shows which others of a group use a client.
    ///   - browser: opens pages for `presentation: "broker"`.
    ///   - stop: shared with the other parts that wait for people.
    package init(
        vault: any RecordVault & VaultKeys & BackupStore, provider: any IdentityProvider,
        redirects: any RedirectListener,
        browser: any BrowserOpener, roster: any AppRoster, proofs: any ProofSigner,
        clock: any BrokerClock, random: any RandomSource, settings: EngineSettings = EngineSettings(),
        payer: @escaping @Sendable (Partition) -> Partition = { $0 }, stop: StopSignal = StopSignal(), log: Logger
    ) {
        let box = SettingsBox(settings)
        let gate = LockGate(clock: clock)
        let cache = TokenCache(
            vault: vault, clock: clock, retryInterval: { .seconds(box.read(\.writeRetryInterval)) }, log: log)
        let events = EventHub()
        let interactions = InteractionRegistry(settings: box, random: random, events: events, payer: payer)
        let transfers = CacheTransfers(clock: clock, random: random)
        shared = SharedParts(
            cache: cache, provider: provider, roster: roster, clock: clock, settings: box, gate: gate,
            flights: RefreshFlights(clock: clock, gate: gate) { .seconds(box.read(\.answerPatience)) },
            interactions: interactions, revocations: Revocations(provider: provider, settings: box, log: log),
            events: events)
        engine = Engine(
            shared, windows: BrowserWindows(redirects: redirects, browser: browser), proofs: proofs, random: random,
            log: log)
        quota = PartitionQuota(vault: vault, clock: clock) { box.read(\.partitionQuota) }
        backups = CacheBackups(
            cache: cache, store: vault, transfers: transfers, quota: quota,
            restore: CacheRestore(cache: cache, roster: roster, throttle: shared.throttle, clock: clock), clock: clock)
        lock = BrokerLock(
            keys: vault, cache: cache, gate: gate, roster: roster, settings: box, stop: stop, clock: clock, log: log
        ) { refusal in
            // A broker that stops refuses, locked or not.
            guard refusal != nil || !stop.hasBegun else { return }
            interactions.refuse(with: refusal)
            transfers.refuse(with: refusal)
        }
        (self.transfers, self.stop, self.log) = (transfers, stop, log)
        gate.limitIdleTime(to: settings.idleLimit)
    }

    /// Counts all work that needs the vault's keys.
    package var gate: LockGate { shared.gate }

    /// Takes effect with the next request.
    package func apply(_ settings: EngineSettings) {
        shared.settings.value = settings
        gate.limitIdleTime(to: settings.idleLimit)
    }

    /// Releases memory after a burst; to be called after a while without requests.
    package func trim() {
        shared.cache.index.trim()
        shared.throttle.with { [now = shared.clock.uptime] in $0.trim(at: now) }
    }

    // MARK: Tokens

    /// The hot path: answers from memory without waiting; `nil` if the request would have to wait or be refused. Safe on an event
    /// loop. A token that is due for renewal is still returned, and renewed meanwhile.
    package func cached(_ request: SilentRequest) -> AcquiredToken? { engine.silent.cached(request) }

    /// - Throws: `interactionRequired` if only the person can help; `offline` and `serverUnavailable` if trying again later makes
    ///   sense.
    package func acquireSilent(_ request: SilentRequest) async throws(BrokerError) -> AcquiredToken {
        try await engine.silent.acquire(request)
    }

    /// - Parameters:
    ///   - onOpen: called once, when the redirect is awaited and the URL may be opened.
    ///   - onJoin: called once instead, if an equal request has the window.
    package func acquireInteractive(
        _ request: InteractiveRequest, onOpen: @escaping @Sendable (InteractionOpening) -> Void,
        onJoin: @escaping @Sendable (InteractionJoining) -> Void = { _ in }
    ) async throws(BrokerError) -> AcquiredToken {
        try await engine.interactive.acquire(request, onOpen: onOpen, onJoin: onJoin)
    }

    /// - Parameter onCode: called once, with the code to show to the person.
    package func acquireByDeviceCode(
        _ request: DeviceCodeRequest, onCode: @escaping @Sendable (DeviceCodeOpening) -> Void
    ) async throws(BrokerError) -> AcquiredToken {
        try await engine.deviceCode.acquire(request, onCode: onCode)
    }

    /// - Throws: `interactionRequired` if there is no DPoP token to make a proof for.
    package func proof(_ request: ProofRequest) throws(BrokerError) -> IssuedProof { try engine.proofs.prove(request) }

    package var watched: WatchedTokens { engine.watched }

    // MARK: Interactions

    /// Delivers a redirect received elsewhere: by a URL handler, or pasted by the person.
    ///
    /// - Throws: `invalidParameter` if it belongs to no waiting sign-in, or is no acceptable answer.
    package func complete(redirectURL: Secret, from owner: InteractionOwner) throws(BrokerError) {
        var redirect = RedirectParameters(redirectURL: redirectURL.revealed()[...])
        redirect.isHandedIn = true
        switch shared.interactions.deliver(redirect, from: owner) {
        case .taken: return
        // The provider is not asked again if no browser waits.
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
        shared.interactions.interaction(interactionID, of: owner)?
            .end(BrokerError(.userCanceled, "The sign-in was canceled.")) ?? false
    }

    // MARK: Accounts

    /// - Parameter app: `nil` lists all groups' accounts (for the person's own tools).
    package func accounts(of app: AppRegistration?, includeSignedOut: Bool, in partition: Partition)
        throws(BrokerError) -> [Account]
    {
        let listing = engine.listing
        return listing.tellingEnds(
            of: try listing.list(for: app, includeSignedOut: includeSignedOut, in: partition), for: app, in: partition)
    }

    package func account(_ selector: AccountReference, of app: AppRegistration?, in partition: Partition)
        throws(BrokerError) -> Account?
    {
        let listing = engine.listing
        let found = try listing.find(selector, for: app, in: partition)
        return listing.tellingEnds(of: [found].compactMap(\.self), for: app, in: partition).first
    }

    package var defaults: DefaultAccount { engine.defaults }

    /// Removes the account's tokens from one app.
    ///
    /// - Returns: the number of tokens that the app lost.
    package func remove(_ selector: AccountReference, from app: AppRegistration, in partition: Partition)
        async throws(BrokerError) -> Int
    {
        try await engine.removal.remove(selector, from: app, in: partition)
    }

    /// The account that is current for an app. The broker records that the app was given it.
    package func currentAccount(of app: AppRegistration, in partition: Partition)
        async throws(BrokerError) -> CurrentAccounts
    {
        try await engine.current.run(of: app, in: partition)
    }

    /// - Parameter onOpen: called once, when the page that ends the browser's session may be opened.
    package func signOut(
        _ request: SignOutRequest, onOpen: @escaping @Sendable (InteractionOpening) -> Void
    ) async throws(BrokerError) -> SignOutStages {
        try await engine.signOut.run(request, onOpen: onOpen)
    }

    package var erasure: Erasure { engine.erasure }

    package var isSharedDevice: Bool { shared.settings.value.isSharedDevice }

    // MARK: Events

    /// - Parameters:
    ///   - group: `nil` for all groups (for the person's own tools).
    ///   - deliver: called on the thread of the event: it must not block.
    /// - Returns: a subscription that ends when it is released.
    /// - Throws: `throttled` if there are too many, in total or for the claimant.
    package func subscribe(
        to topics: Set<EventTopic>, group: GroupID?, of claimant: QuotaOwner = .unidentified, in partition: Partition,
        _ deliver: @escaping EventHub.Deliver
    ) throws(BrokerError) -> Subscription {
        try shared.events.subscribe(to: topics, group: group, of: claimant, in: partition, deliver)
    }

    /// Events of accounts and tokens, in all partitions.
    ///
    /// - Returns: a subscription that ends when it is released.
    package func observe(_ deliver: @escaping EventHub.Deliver) -> Subscription { shared.events.observe(deliver) }

    /// Events that a provider reported without a request from here, of all partitions.
    ///
    /// - Returns: a subscription that ends when it is released.
    package func observeProvidersWord(_ deliver: @escaping EventHub.Deliver) -> Subscription {
        shared.events.observe { if $0.isReportedByProvider { deliver($0) } }
    }

    // MARK: The cache

    /// Imports accounts and tokens from a file of MSAL's (unified cache schema).
    ///
    /// - Parameters:
    ///   - file: the whole of it or a part; malformed entries are reported and left out.
    ///   - app: their new owner; `nil` gives each registered app the tokens of its client.
    package func importCache(
        _ file: JSONObject, for app: AppRegistration?, in partition: Partition
    ) async throws(BrokerError) -> CacheImportReport {
        try await engine.cacheImport.run(file, for: app, in: partition)
    }

    package func cacheStatistics(of partition: Partition) throws(BrokerError) -> CacheStatistics {
        try engine.counting.statistics(of: partition)
    }

    package var partitions: PartitionReplacement { engine.partitions }

    // MARK: Providers

    /// Registers a client at the provider (RFC 7591). The result is not registered here yet; the caller does that.
    ///
    /// - Parameter draft: the future app, without its client id.
    package func registerAtProvider(
        _ draft: AppRegistration, isConfidential: Bool, initialAccessToken: Secret?
    ) async throws(BrokerError) -> (app: AppRegistration, secretExpiresOn: NumericDate?) {
        try await engine.registration.register(
            draft, isConfidential: isConfidential, initialAccessToken: initialAccessToken)
    }

    /// The provider's metadata, before an app is registered there.
    package func metadata(of authority: Authority) async throws(BrokerError) -> ProviderMetadata {
        try await shared.provider.metadata(for: authority)
    }

    // MARK: The process

    package var refreshesInFlight: Int { shared.flights.count }

    /// The outcomes of refreshes.
    package var refreshOutcomes: OutcomeCounts { engine.refresh.outcomes }

    /// Sign-ins and sign-outs that wait for a person.
    package var interactionsOpen: Int { shared.interactions.count }

    /// Prepares shutdown: answers waiting requests, waits for refreshes and polls in flight and for sign-ins whose
    /// answer has come, and retries refused writes once.
    package func drain() async {
        stop.begin()
        shared.interactions.refuse(with: Self.stopping("start the sign-in again in a moment"))
        transfers.refuse(with: Self.stopping("start the export or import again in a moment"))
        engine.renewals.stop()
        await finishExchanges()
    }

    /// Ends the work of requests whose callers have gone, after the last connection was closed: a refresh may have begun since
    /// ``drain()``.
    package func finish() async {
        shared.flights.refuse(with: Self.stopping("try again in a moment"))
        if await !finishExchanges() {
            log.critical("tokens could not be written before the broker stopped; those sign-ins may be lost")
        }
    }

    /// - Returns: whether everything is on disk.
    @discardableResult
    private func finishExchanges() async -> Bool {
        await shared.flights.finishAll()
        await shared.interactions.finishAnswered()
        await engine.deviceCode.finishPolls()
        await shared.revocations.finishAll()
        shared.cache.writer.stopRetrying()
        return await shared.cache.writer.flush()
    }

    private static func stopping(_ advice: String) -> BrokerError {
        BrokerError(.serverUnavailable, "The broker is stopping; \(advice).", reason: .interrupted)
    }
}

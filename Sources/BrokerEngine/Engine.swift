import BrokerModel
import BrokerTokenCache
import BrokerValues
import Logging

/// The engine's flows. Each flow is given the parts that it uses, and none refers to this type.
struct Engine: Sendable {
    let silent: SilentAcquisition
    let watched: WatchedTokens
    let renewals: TokenRenewals
    let refresh: Refresh
    let interactive: InteractiveAcquisition
    let deviceCode: DeviceCodeAcquisition
    let proofs: ProofIssuer
    let listing: AccountListing
    let defaults: DefaultAccount
    let current: CurrentAccountLookup
    let removal: AccountRemoval
    let signOut: AccountSignOut
    let erasure: Erasure
    let partitions: PartitionReplacement
    let cacheImport: CacheImport
    let counting: CacheCounting
    let registration: ClientRegistration

    init(_ shared: SharedParts, windows: BrowserWindows, proofs: any ProofSigner, random: any RandomSource, log: Logger)
    {
        let (cache, settings, clock) = (shared.cache, shared.settings, shared.clock)
        let (provider, roster, gate) = (shared.provider, shared.roster, shared.gate)
        let (flights, interactions, revocations) = (shared.flights, shared.interactions, shared.revocations)
        let (throttle, events) = (shared.throttle, shared.events)
        let clients = ClientKnowledge(cache: cache)
        let proofKeys = ProofKeys(cache: cache, proofs: proofs)
        let store = TokenResponseStore(
            cache: cache, identities: IdentityVerification(provider: provider, settings: settings, log: log),
            filing: GrantFiling(cache: cache, throttle: throttle, events: events, clock: clock),
            salvage: RefreshTokenSalvage(
                cache: cache, flights: flights, revocations: revocations, roster: roster, clock: clock, log: log),
            revocations: revocations, settings: settings, clock: clock)

        let lookups = CacheLookup(cache: cache, settings: settings, clock: clock)
        let missing = MissingTokens(throttle: throttle, clients: clients, clock: clock)
        let updates = RefreshTokenUpdates(cache: cache, events: events)
        let refresh = Refresh(
            lookups: lookups, flights: flights,
            exchange: RefreshTokenExchange(
                cache: cache, provider: provider, proofKeys: proofKeys, updates: updates, store: store, clock: clock),
            updates: updates,
            deletion: DeletedAccount(cache: cache, throttle: throttle, events: events, log: log),
            missing: missing, throttle: throttle, clock: clock)
        let renewals = TokenRenewals(
            lookups: lookups, refresh: refresh, gate: gate, settings: settings, clock: clock, log: log)
        silent = SilentAcquisition(
            lookups: lookups, renewals: renewals, refresh: refresh, missing: missing, cache: cache, settings: settings,
            clock: clock)
        watched = WatchedTokens(
            lookups: lookups, missing: missing, cache: cache, gate: gate, settings: settings, clock: clock)

        let signIn = SignIn(
            questions: AuthorizationQuestions(cache: cache, proofKeys: proofKeys, random: random, log: log),
            redemption: CodeRedemption(provider: provider, clients: clients, store: store),
            interactions: interactions, windows: windows, provider: provider, clients: clients,
            settings: settings, log: log)
        interactive = InteractiveAcquisition(
            cache: cache, interactions: interactions, signIn: signIn, gate: gate, settings: settings, clock: clock)
        deviceCode = DeviceCodeAcquisition(
            cache: cache, provider: provider, interactions: interactions, clients: clients, proofKeys: proofKeys,
            store: store, gate: gate, settings: settings, clock: clock)

        let listing = AccountListing(cache: cache, settings: settings)
        let revocation = TokenRevocation(
            vault: cache.vault, provider: provider, settings: settings, gate: gate, log: log)
        defaults = DefaultAccount(listing: listing, cache: cache, clock: clock)
        current = CurrentAccountLookup(cache: cache, clock: clock)
        removal = AccountRemoval(listing: listing, cache: cache, roster: roster, events: events, clock: clock)
        signOut = AccountSignOut(
            listing: listing, cache: cache, roster: roster, interactions: interactions, flights: flights,
            revocation: revocation,
            browser: BrowserSignOut(
                interactions: interactions, windows: windows, provider: provider, random: random, clock: clock),
            events: events, settings: settings, clock: clock)
        erasure = Erasure(
            listing: listing, cache: cache, roster: roster, interactions: interactions, flights: flights,
            throttle: throttle, events: events, revocation: revocation)
        partitions = PartitionReplacement(cache: cache, roster: roster, interactions: interactions)
        cacheImport = CacheImport(cache: cache, roster: roster, throttle: throttle, settings: settings, clock: clock)
        counting = CacheCounting(listing: listing, cache: cache, roster: roster)
        self.proofs = ProofIssuer(cache: cache, keys: proofKeys, proofs: proofs, clock: clock)
        registration = ClientRegistration(provider: provider, random: random)
        (self.refresh, self.renewals, self.listing) = (refresh, renewals, listing)
    }
}

/// The parts that many flows share.
struct SharedParts: Sendable {
    let cache: TokenCache
    let provider: any IdentityProvider
    let roster: any AppRoster
    let clock: any BrokerClock
    let settings: SettingsBox
    let gate: LockGate
    let flights: RefreshFlights
    let interactions: InteractionRegistry
    let revocations: Revocations
    let throttle = ThrottleBox()
    let events: EventHub
}

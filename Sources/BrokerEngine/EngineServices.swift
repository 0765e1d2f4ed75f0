import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// What every acquisition works with, wired once by ``TokenBroker``. A class, so that handing it on costs one reference.
final class EngineServices: Sendable {
    let vault: any RecordVault
    let provider: any IdentityProvider
    let redirects: any RedirectListener
    let browser: any BrowserOpener
    let roster: any AppRoster
    let proofs: any ProofSigner
    let clock: any BrokerClock
    let random: any RandomSource
    let settings: SettingsBox
    let log: Logger
    let index: CacheIndex
    let writer: CacheWriter
    let flights: RefreshFlights
    let gate: LockGate
    let throttle = ThrottleBox()
    let ahead = RefreshAhead()
    let refreshOutcomes = OutcomeCounts()
    let rejected = RejectedTokens()
    let turns = RefreshTokenLocks()
    let underWay: RefreshIntents
    let revocations = Revocations()
    let interactions: InteractionRegistry
    let backups: any BackupStore
    let transfers: CacheTransfers
    let quota: PartitionQuota
    let events = EventHub()

    init(
        vault: any RecordVault, provider: any IdentityProvider, redirects: any RedirectListener,
        browser: any BrowserOpener, roster: any AppRoster, proofs: any ProofSigner, clock: any BrokerClock,
        random: any RandomSource, settings: SettingsBox, log: Logger, index: CacheIndex, writer: CacheWriter,
        flights: RefreshFlights, gate: LockGate, interactions: InteractionRegistry, backups: any BackupStore,
        transfers: CacheTransfers, quota: PartitionQuota
    ) {
        (self.vault, self.provider, self.redirects, self.browser) = (vault, provider, redirects, browser)
        (self.roster, self.proofs, self.clock, self.random) = (roster, proofs, clock, random)
        (self.settings, self.log, self.index, self.writer) = (settings, log, index, writer)
        (self.flights, self.gate, self.interactions) = (flights, gate, interactions)
        (self.backups, self.transfers, self.quota) = (backups, transfers, quota)
        underWay = RefreshIntents(vault: vault, writer: writer, clock: clock, log: log)
    }

    /// For the journal: an error in which a provider may be quoted.
    func quoted(_ error: some Error) -> Logger.MetadataValue {
        settings().quotesProviders ? "\(error)" : "(withheld)"
    }

    func knownAccounts(of app: AppRegistration, in partition: Partition) throws(BrokerError) -> KnownAccounts {
        try reading { () throws(VaultError) in try index.loadAccounts(of: .init(of: app, in: partition)) }
    }

    func tokens(of owner: CacheIndex.OwnerKey) throws(BrokerError) -> CachedTokens {
        try reading { () throws(VaultError) in try index.loadTokens(of: owner) }
    }

    func family(of owner: CacheIndex.OwnerKey) throws(BrokerError) -> FamilyKnowledge {
        try reading { () throws(VaultError) in
            let tokens = try index.loadTokens(of: owner.ofFamilies).familyTokens
            guard !tokens.isEmpty else { return FamilyKnowledge() }
            return FamilyKnowledge(try index.loadMembership(of: owner.client), tokens: tokens)
        }
    }

    /// Runs a read of the vault and says what its failure means for the caller.
    func reading<Value>(_ body: () throws(VaultError) -> Value) throws(BrokerError) -> Value {
        do throws(VaultError) {
            return try body()
        } catch {
            log.error("the vault could not be read", metadata: ["cause": "\(error)"])
            throw BrokerError(error)
        }
    }

    /// Changes the cache (``CacheWriter/write(in:_:)``) and says what its failure means for the caller.
    func write<Answer: Sendable>(
        in partition: Partition,
        _ decide: @escaping @Sendable (CacheIndex) throws(VaultError) -> (change: CacheChange, answer: Answer)
    ) async throws(BrokerError) -> (answer: Answer, isPersisted: Bool) {
        try await changing { () async throws(VaultError) in try await writer.write(in: partition, decide) }
    }

    /// As ``write(in:_:)``, together with others (``CacheWriter/writeTogether(in:_:)``).
    func writeTogether<Answer: Sendable>(
        in partition: Partition,
        _ decide: @escaping @Sendable (PendingChanges) throws(VaultError) -> (change: CacheChange, answer: Answer)
    ) async throws(BrokerError) -> (answer: Answer, isPersisted: Bool) {
        try await changing { () async throws(VaultError) in try await writer.writeTogether(in: partition, decide) }
    }

    private func changing<Value>(_ body: () async throws(VaultError) -> Value) async throws(BrokerError) -> Value {
        do throws(VaultError) {
            return try await body()
        } catch {
            log.error("the cache could not be changed", metadata: ["cause": "\(error)"])
            throw BrokerError(error)
        }
    }

    /// What is imported is compared with what is here: tokens, and who signed out. It must not be an earlier state of that.
    func requireCertain(_ partition: Partition) throws(BrokerError) {
        guard vault.isRolledBack(partition) else { return }
        throw BrokerError(
            .accessDenied,
            "An earlier vault was put in place of the last one, so an import could bring back who signed out since; look at brokerctl accounts list, run brokerctl cache accept-restore, then import.",
            reason: .vaultRolledBack)
    }

    /// Asks the provider of an authority and says what its failure means for the caller.
    func asking<Value>(
        _ authority: Authority, _ body: () async throws(ProviderError) -> Value
    ) async throws(BrokerError) -> Value {
        do throws(ProviderError) {
            return try await body()
        } catch {
            throw ProviderErrors.brokerError(error, at: authority)
        }
    }
}

/// The throttle in force.
final class ThrottleBox: Sendable {
    private let throttle = Mutex(RequestThrottle())

    func with<Value: Sendable>(_ body: (inout RequestThrottle) -> Value) -> Value {
        throttle.withLock { body(&$0) }
    }
}

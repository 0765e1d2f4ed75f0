import BrokerAccess
import BrokerConfig
import BrokerEngine
import BrokerHost
import BrokerModel
import BrokerServer
import BrokerSocket
import BrokerValues
import BrokerVault
import Logging

extension ServerParts {
    init(
        _ configuration: BrokerConfiguration, _ engine: EngineParts, _ vault: Vault, _ sandboxes: SandboxSockets,
        payer: @escaping @Sendable (Partition) -> Partition, reading: ConfigurationReading, clock: SystemClock,
        logger: Logger
    ) {
        let isShared = configuration.isSystemMode
        let owners =
            isShared
            ? PartitionOwners(vault: vault, accounts: SystemAccounts(), clock: clock, payer: payer, log: logger) : nil
        let grants = GrantStore(
            vault: vault, clock: clock, random: SystemRandom(), stop: engine.broker.stop, log: logger)
        self.init(
            broker: engine.broker, apps: engine.directory,
            policy: Self.policy(configuration, engine, grants, owners, logger),
            audit: AuditLog(vault: vault, clock: clock, random: SystemRandom(), payer: payer, log: logger),
            vault: vault, inspector: Self.inspector(configuration, logger), clock: clock,
            process: ProcessFacts(
                version: BrokerVersion.text, mode: isShared ? .system : .user, startedAt: clock.uptime),
            log: logger)
        consent = browserConsent(configuration, engine)
        names.style = configuration.journalNames
        self.payer = payer
        users = owners.map { MultiUserServices(store: vault, owners: $0) }
        process.residentBytes = ResidentMemory.bytes
        process.configuration = { reading.report }
        requestsPerConnection = configuration.socket.maxRequestsPerConnection
        if isShared { requestsPerUser = 4 * requestsPerConnection }
        self.sandboxes = sandboxes
    }

    /// Applies the settings of a reload.
    func apply(_ configuration: BrokerConfiguration) {
        names.style = configuration.journalNames
        policy.apply(configuration.accessSettings)
        consent?.apply(isOn: configuration.asksInBrowser)
    }

    private static func policy(
        _ configuration: BrokerConfiguration, _ engine: EngineParts, _ grants: GrantStore, _ owners: PartitionOwners?,
        _ logger: Logger
    ) -> AccessPolicy {
        let broker = engine.broker
        return AccessPolicy(
            directory: engine.directory, grants: grants, gate: broker.gate, owners: owners, quota: broker.quota,
            presence: PolkitPresence(),
            accounts: { (try? broker.account(.username($0), of: $1, in: $2))?.id },
            settings: configuration.accessSettings, log: logger)
    }

    /// The inspector of peers. Call it before the first peer connects, while the process that started the broker is still its
    /// parent.
    private static func inspector(_ configuration: BrokerConfiguration, _ logger: Logger) -> LinuxPeerInspector {
        let host = HostReference()
        if !host.isKnown {
            logger.error(
                "the host's own namespaces cannot be read: no caller can be proven to run outside a sandbox, so none may administer; give the broker a /proc that shows other processes (no ProtectProc=, no hidepid=)"
            )
        }
        return LinuxPeerInspector(
            host: host, runtimeDirectory: configuration.isSystemMode ? nil : HostPaths().runtimeDirectory)
    }

    private func browserConsent(_ configuration: BrokerConfiguration, _ engine: EngineParts) -> BrowserConsent {
        let broker = engine.broker
        return BrowserConsent(
            policy: policy, audit: audit, allowance: browsers,
            pages: LoopbackConsentPages(on: engine.loops.next(), random: SystemRandom()), browser: engine.browser,
            isOn: configuration.asksInBrowser,
            names: { PeopleNames((try? broker.accounts(of: nil, includeSignedOut: true, in: $0)) ?? []) },
            accounts: { ((try? broker.accounts(of: $0, includeSignedOut: false, in: $1)) ?? []).map(\.id) }, log: log)
    }
}

import BrokerAccess
import BrokerConfig
import BrokerEngine
import BrokerHost
import BrokerModel
import BrokerOAuth
import BrokerRPC
import BrokerServer
import BrokerSocket
import BrokerSystem
import BrokerValues
import BrokerVault
import BrokerVaultSQLite
import Glibc
import Logging
import NIOPosix
import ServiceLifecycle
import UnixSignals

/// The whole broker: the only place that constructs and connects the parts.
struct RunningBroker: Sendable {
    let configuration: BrokerConfiguration
    let reading: ConfigurationReading
    let log: BrokerLog
    let logger: Logger
    let vault: Vault
    let http: HTTPClient
    let reach: PrivateReach
    let engine: TokenBroker
    let provider: OAuthProvider
    let browser: BrowserLauncher
    let directory: AppDirectory
    let policy: AccessPolicy
    let audit: AuditLog
    let consent: BrowserConsent
    let names: JournalNames
    let listener: LocalListener
    let ownSocket: String?
    let sandboxes: SandboxSockets
    let doors: Doors
    let doorListeners: [LocalListener]
    let signals: UnixSignalsSequence
    let reactor: Reactor
    /// The event loop of the browser's pages.
    let loops: MultiThreadedEventLoopGroup
    let manager: ServiceManager
    let clock: SystemClock

    /// Starts the broker. A failure before the vault is open leaves nothing behind, so that the start may be retried.
    ///
    /// - Parameter activated: the sockets from systemd; without any the broker binds its own.
    static func start(
        _ configuration: BrokerConfiguration, from files: ConfigurationFiles, activated: ActivatedSockets?,
        log: BrokerLog
    ) async throws(StartFailure) -> RunningBroker {
        let logger = log.logger(label: "brokerd")
        let clock = SystemClock()
        do throws(SignatureLibrary.Unusable) {
            try SignatureLibrary.check()
        } catch {
            throw StartFailure(exit: .failed, text: "\(error)")
        }
        let reach = PrivateReach(allowsAll: configuration.access.allowPrivateAuthorities)
        let http = try client(configuration, reach, logger)
        UnguardedSecrets.whenMore { count in
            logger.error(
                "the system provides no more locked memory for secrets; they may be swapped",
                metadata: ["count": "\(count)"])
        }
        let vault: Vault
        do throws(StartFailure) {
            vault = try await openVault(configuration, clock, logger)
        } catch {
            await http.shutdown()
            throw error
        }
        let directory = AppDirectory(vault: vault, authorities: configuration.authorities, log: logger)
        directory.apply(configuration.apps.entries)
        configuration.apps.logMistakes(to: logger)
        for remark in configuration.remarks { logger.warning("\(remark)") }
        reach.apply(directory)
        let grants = GrantStore(vault: vault, clock: clock, random: SystemRandom(), log: logger)
        let audit = AuditLog(vault: vault, clock: clock, random: SystemRandom(), log: logger)
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let proofs = ES256ProofSigner(random: SystemRandom())
        let provider = OAuthProvider(
            http: http, clock: clock, proofs: proofs, completions: configuration.completions,
            documents: DocumentStore(vault: vault, partition: Partition(uid: geteuid())))
        let browser = BrowserLauncher(command: configuration.browser.command, clock: clock, logger: logger)
        let payer = payer(configuration)
        let engine = TokenBroker(
            vault: vault, provider: provider,
            redirects: LoopbackRedirectListener(
                on: loops.next(), limits: configuration.redirectLimits, logger: logger), browser: browser,
            roster: directory, proofs: proofs,
            clock: clock,
            random: SystemRandom(), settings: configuration.engineSettings, payer: payer, log: logger)
        let owners =
            configuration.isSystemMode
            ? PartitionOwners(vault: vault, accounts: SystemAccounts(), clock: clock, log: logger) : nil
        let policy = AccessPolicy(
            directory: directory, grants: grants, gate: engine.gate, owners: owners,
            quota: engine.quota, presence: PolkitPresence(),
            accounts: { (try? engine.account(.username($0), of: $1, in: $2))?.id },
            settings: configuration.accessSettings, log: logger)
        var parts = ServerParts(
            broker: engine, apps: directory, policy: policy, audit: audit, vault: vault,
            inspector: inspector(configuration, logger), clock: clock,
            process: ProcessFacts(
                version: BrokerVersion.text, mode: configuration.isSystemMode ? .system : .user, startedAt: clock.uptime
            ), log: logger)
        let consent = BrowserConsent(
            policy: policy, audit: audit, allowance: parts.browsers,
            pages: LoopbackConsentPages(on: loops.next(), random: SystemRandom()), browser: browser,
            isOn: configuration.asksInBrowser,
            names: { PeopleNames((try? engine.accounts(of: nil, includeSignedOut: true, in: $0)) ?? []) },
            accounts: { ((try? engine.accounts(of: $0, includeSignedOut: false, in: $1)) ?? []).map(\.id) }, log: logger
        )
        parts.consent = consent
        parts.names.style = configuration.journalNames
        parts.payer = payer
        parts.users = owners.map { MultiUserServices(store: vault, owners: $0) }
        parts.process.residentBytes = ResidentMemory.bytes
        let reading = ConfigurationReading(of: files, clock: clock)
        parts.process.configuration = { reading.report }
        parts.requestsPerConnection = configuration.socket.maxRequestsPerConnection
        if configuration.isSystemMode { parts.requestsPerUser = 4 * parts.requestsPerConnection }
        let sandboxes = SandboxSockets(
            in: sandboxFolders(configuration),
            clock: clock, random: SystemRandom(), payer: payer, log: logger)
        parts.sandboxes = sandboxes
        let signals = await SignalService.trap()
        let limits = connectionLimits(configuration, logger)
        let server = Server(parts)
        let doors = Doors(configuration, server)
        let listener: LocalListener
        var doorListeners: [LocalListener] = []
        let reactor: Reactor
        do throws(SocketError) {
            reactor = try Reactor()
            let front = server.serving(JSONRPCFront(server.requests))
            // A client that finds the broker's own socket also finds those of the doors.
            let bound = try doors.bind(
                beside: activated?.main.path ?? socketPath(configuration), handed: activated?.others ?? [:],
                configuration, logger)
            do throws(SocketError) {
                listener = try await LocalListener.start(
                    try socket(configuration, activated?.main), on: reactor, service: front,
                    limits: limits, logger: logger)
            } catch {
                for door in bound { door.socket.removePath() }
                throw error
            }
            let configured = configuration.isSystemMode ? [:] : configuration.sandboxes
            sandboxes.begin(
                beside: listener, configured: Set(configured.keys),
                SandboxFront(front), others: doors.inSandboxes(configuration))
            await sandboxes.open(configured: configured, of: Partition(uid: geteuid()))
            for door in bound {
                doorListeners.append(try await door.serve(beside: listener, noting: server.doors))
            }
        } catch {
            throw StartFailure(exit: .failed, text: "\(error)")
        }
        return RunningBroker(
            configuration: configuration, reading: reading, log: log, logger: logger, vault: vault, http: http,
            reach: reach,
            engine: engine,
            provider: provider, browser: browser, directory: directory, policy: policy, audit: audit, consent: consent,
            names: parts.names, listener: listener, ownSocket: activated == nil ? socketPath(configuration) : nil,
            sandboxes: sandboxes, doors: doors, doorListeners: doorListeners,
            signals: signals, reactor: reactor, loops: loops,
            manager: ServiceManager(),
            clock: clock)
    }

    private static func sandboxFolders(_ configuration: BrokerConfiguration) -> SandboxFolders {
        let isShared = configuration.isSystemMode
        return HostPaths(isSystemMode: isShared).sandboxes.map { SandboxFolders($0, isShared: isShared) }
            ?? SandboxFolders(beside: socketPath(configuration), isShared: isShared)
    }

    /// Limits connections to the available descriptors: each client then gets a slot, or an answer that says why not.
    private static func connectionLimits(_ configuration: BrokerConfiguration, _ log: Logger) -> ConnectionLimits {
        var limits = configuration.connectionLimits
        let descriptors = DescriptorLimit.raise(to: limits.descriptors)
        let wanted = limits.connections
        limits.fit(descriptors: descriptors)
        if limits.connections < wanted {
            log.warning(
                "there are fewer connections than the configuration says: the process may not have more descriptors",
                metadata: ["connections": "\(limits.connections)", "descriptors": "\(descriptors)"])
        }
        return limits
    }

    /// Gives every part the settings that a reload may change. They take effect with the next request; requests in progress
    /// continue unchanged.
    func apply(_ configuration: BrokerConfiguration) async {
        // First, so that the log level also applies to the changes below.
        if let level = Logger.Level(rawValue: configuration.log.level) { log.level = level }
        names.style = configuration.journalNames
        engine.apply(configuration.engineSettings)
        provider.apply(configuration.completions)
        directory.apply(configuration.authorities)
        directory.apply(configuration.apps.entries)
        configuration.apps.logMistakes(to: logger)
        for remark in configuration.remarks { logger.warning("\(remark)") }
        policy.apply(configuration.accessSettings)
        reach.apply(allowsAll: configuration.access.allowPrivateAuthorities)
        consent.apply(isOn: configuration.asksInBrowser)
        doors.apply(configuration)
        browser.apply(command: configuration.browser.command)
        await sandboxes.open(
            configured: configuration.isSystemMode ? [:] : configuration.sandboxes, of: Partition(uid: geteuid()))
    }

    /// The user whose quota a user's requests count against.
    private static func payer(_ configuration: BrokerConfiguration) -> @Sendable (Partition) -> Partition {
        guard configuration.isSystemMode else { return { $0 } }
        let users = SubordinateUsers()
        return { Partition(uid: users.owner(of: $0.uid)) }
    }

    /// The inspector of peers. Call it before the first peer connects, while the process that started the broker is still its
    /// parent.
    private static func inspector(_ configuration: BrokerConfiguration, _ logger: Logger) -> LinuxPeerInspector {
        let host = HostReference.read()
        if !host.isKnown {
            logger.error(
                "the host's own namespaces cannot be read: no caller can be proven to run outside a sandbox, so none may administer; give the broker a /proc that shows other processes (no ProtectProc=, no hidepid=)"
            )
        }
        return LinuxPeerInspector(
            host: host, runtimeDirectory: configuration.isSystemMode ? nil : HostPaths().runtimeDirectory)
    }

    private static func openVault(
        _ configuration: BrokerConfiguration, _ clock: SystemClock, _ logger: Logger
    ) async throws(StartFailure) -> Vault {
        guard let place = configuration.vault.stateDirectory.map(StatePlace.named) ?? configuration.paths.statePlace
        else {
            throw StartFailure(
                exit: .configuration,
                text: "There is no home directory to keep the vault in; name one with --state-dir.")
        }
        do throws(VaultError) {
            let directory = try stateDirectory(at: place, logger)
            let keys = try keyDirectory(configuration)
            var context = KeySourceContext(
                directory: directory, keyDirectory: keys,
                credentials: ProcessEnvironment.current()["CREDENTIALS_DIRECTORY"])
            if !configuration.vault.passphraseCommand.isEmpty {
                let command = PassphraseCommand(configuration.vault.passphraseCommand, clock: clock)
                context.passphrase = { () throws(VaultError) in try await command.passphrase() }
            }
            let sources = KeySourceChoice(KeySources.all(in: context), order: configuration.vault.keySources)
            return try await Vault.open(
                in: directory, rows: SQLiteStore(in: directory), keySources: sources,
                anchors: [keys, sessionAnchors(configuration, logger)].compactMap(\.self), at: clock.now,
                logger: logger)
        } catch {
            throw StartFailure(exit: .vault, text: "\(error)")
        }
    }

    private static func stateDirectory(
        at place: StatePlace, _ logger: Logger
    ) throws(VaultError) -> StateDirectory {
        switch place {
        case .named(let path): try .open(creating: path)
        case .own(let path, let earlier):
            try .open(creating: requireHome(path), movingFrom: earlier, logger: logger)
        case .prepared(let path): try .open(creating: path, followingLink: true)
        }
    }

    /// - Throws: `notPrivate` for root with another user's home (`sudo -E`, `su -m`): that user's broker accepts no files owned by
    ///   root.
    private static func requireHome(_ path: String) throws(VaultError) -> String {
        guard let owner = otherOwner(of: path) else { return path }
        throw .notPrivate(
            "\(path) would be in the home of \(ownerText(owner)), and you are root. Start brokerd as that user, or with root's own "
                + "home (sudo -H).")
    }

    /// The folder of a key file; `nil` means next to the vault. A broker whose vault is in a folder of its own keeps the key there
    /// as well, independent of any other broker.
    private static func keyDirectory(_ configuration: BrokerConfiguration) throws(VaultError) -> StateDirectory? {
        if let path = configuration.vault.keyDirectory { return try StateDirectory.open(creating: path) }
        guard configuration.vault.stateDirectory == nil, let path = configuration.paths.keyDirectory else { return nil }
        return try StateDirectory.open(creating: configuration.isSystemMode ? path : requireHome(path))
    }

    /// The folder that records the vault's last commit for the session. `nil` without a session, or if it cannot be opened.
    private static func sessionAnchors(_ configuration: BrokerConfiguration, _ logger: Logger) -> StateDirectory? {
        let paths = configuration.paths
        guard access(paths.anchorsParent, W_OK) == 0 else { return nil }
        do throws(VaultError) {
            return try StateDirectory.open(creating: paths.anchors)
        } catch {
            logger.warning(
                "the session does not remember the vault's last commit", metadata: ["cause": "\(error)"])
            return nil
        }
    }

    private static func client(
        _ configuration: BrokerConfiguration, _ reach: PrivateReach, _ logger: Logger
    ) throws(StartFailure) -> HTTPClient {
        var settings = HTTPClientConfiguration(
            version: BrokerVersion.text, caFile: configuration.oauth.caFile,
            proxies: ProxySettings(environment: ProcessEnvironment.current()))
        settings.certificates = CertificateVariables(environment: ProcessEnvironment.current())
        settings.complain = { error in
            logger.error("the certificate authorities stay as they were", metadata: ["cause": "\(error)"])
        }
        settings.reachesPrivateAddresses = { reach.isGranted(to: $0) }
        settings.connectTimeout = .seconds(configuration.oauth.connectTimeout)
        settings.totalTimeout = .seconds(configuration.oauth.requestTimeout)
        do throws(HTTPClientError) {
            return try HTTPClient(configuration: settings)
        } catch {
            throw StartFailure(exit: .configuration, text: "\(error)")
        }
    }

    private static func socket(
        _ configuration: BrokerConfiguration, _ activated: ActivatedSocket?
    ) throws(SocketError) -> ListeningSocket {
        if let activated { return try .inherited(activated.descriptor) }
        return try .bind(
            SocketPlace(
                path: socketPath(configuration), audience: configuration.isSystemMode ? .everybody : .owner))
    }

    private static func socketPath(_ configuration: BrokerConfiguration) -> String {
        configuration.socket.path ?? configuration.paths.socket
    }
}

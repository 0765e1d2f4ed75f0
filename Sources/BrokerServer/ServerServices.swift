import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues
import Glibc
import Logging

/// The services that answer requests, wired once by the daemon.
package struct ServerServices: Sendable {
    package var broker: TokenBroker
    package var apps: AppDirectory
    package var policy: AccessPolicy
    package var audit: AuditLog
    package var vault: any RecordVault
    package var inspector: any PeerInspector
    package var clock: any BrokerClock
    package var process: ProcessFacts
    package var log: Logger
    package var names: JournalNames
    let connected = ConnectedCallers()
    package let doors = OpenDoors()
    let counts = RequestCounts()
    let watches: Watches
    package var browsers: CallerAllowance
    let interactions: CallerAllowance
    /// Asks people in their browser about waiting callers; `nil` if there is no browser.
    package var consent: BrowserConsent?
    /// `nil` if the broker serves one user.
    package var users: MultiUserServices?
    /// The sandboxes' own sockets; `nil` if the broker serves many users.
    package var sandboxes: SandboxSockets?
    /// Requests of one connection in progress at a time.
    package var requestsPerConnection = 64
    /// Requests of one user in progress at a time, if the broker serves many; `nil`: as many as their connections may have.
    package var requestsPerUser: Int?
    /// The user whose quota a user's usage counts against: subordinate uids count for their owner.
    package var payer: @Sendable (Partition) -> Partition = { $0 }

    package init(
        broker: TokenBroker, apps: AppDirectory, policy: AccessPolicy, audit: AuditLog, vault: any RecordVault,
        inspector: any PeerInspector, clock: any BrokerClock, process: ProcessFacts, log: Logger
    ) {
        self.broker = broker
        self.apps = apps
        self.policy = policy
        self.audit = audit
        self.vault = vault
        self.inspector = inspector
        self.clock = clock
        browsers = CallerAllowance(.browsers, clock: clock)
        interactions = CallerAllowance(.interactions, clock: clock)
        watches = Watches(clock: clock)
        self.process = process
        self.log = log
        names = JournalNames(vault: vault, owners: policy.owners)
    }
}

/// Services of a broker with many users.
package struct MultiUserServices: Sendable {
    package let store: any PartitionStore
    package let owners: PartitionOwners

    package init(store: any PartitionStore, owners: PartitionOwners) {
        self.store = store
        self.owners = owners
    }

    /// The partitions of actual users: the broker's own account has only providers' documents.
    func partitions() throws(VaultError) -> [PartitionSummary] {
        try store.partitions().filter { $0.partition.uid == 0 || $0.partition.uid != geteuid() }
    }
}

extension ServerServices {
    /// The opener of a page: this broker opens it for a program on another machine, as the person and the redirect are here.
    func presentation(_ asked: Presentation, for caller: Caller) -> Presentation {
        caller.elsewhere != nil && process.mode == .user ? .broker : asked
    }

    /// Call before a sign-in or sign-out that notifies other programs.
    ///
    /// - Throws: `throttled`; `unsupported` if the broker has no desktop, because it serves many users.
    func beginInteraction(_ presentation: Presentation, for caller: Caller) throws(BrokerError) {
        try interactions.take(for: caller)
        guard presentation == .broker else { return }
        guard process.mode == .user else {
            throw BrokerError(
                .unsupported,
                "This broker serves every user of the machine and opens no browser; ask with presentation client, and open the page yourself."
            )
        }
        try browsers.take(for: caller)
    }
}

/// The facts of `broker.status` that only the process knows.
package struct ProcessFacts: Sendable {
    package var version: String
    package var mode: GetBrokerStatus.Mode
    /// ``BrokerClock/uptime`` at start.
    package var startedAt: Duration
    /// The source of the settings; `nil` if no file is read.
    package var configuration: @Sendable () -> GetBrokerStatus.Configuration? = { nil }
    /// The process's memory; `nil` if the system does not say.
    package var residentBytes: @Sendable () -> Int? = { nil }

    package init(version: String, mode: GetBrokerStatus.Mode, startedAt: Duration) {
        self.version = version
        self.mode = mode
        self.startedAt = startedAt
    }
}

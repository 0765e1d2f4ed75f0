import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues
import Glibc
import Logging

/// What requests are answered with, wired once by the daemon.
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
    /// Asks people in their browser about callers that wait; nil where there is none to ask.
    package var consent: BrowserConsent?
    /// Nil where the broker serves one user.
    package var users: MultiUserServices?
    /// Sockets that sandboxes have for themselves; nil where the broker serves many users.
    package var sandboxes: SandboxSockets?
    /// Requests of one connection under way at a time.
    package var requestsPerConnection = 64
    /// Requests of one user under way at a time, where the broker serves many; nil: as many as their connections may have.
    package var requestsPerUser: Int?
    /// With whom a user's use of what is limited counts together: subordinate uids count for their owner.
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
        names = JournalNames(vault: vault)
    }
}

/// What only a broker with many users has.
package struct MultiUserServices: Sendable {
    package let store: any PartitionStore
    package let owners: PartitionOwners

    package init(store: any PartitionStore, owners: PartitionOwners) {
        self.store = store
        self.owners = owners
    }

    /// Of those who are somebody: the broker's own account has only providers' documents.
    func partitions() throws(VaultError) -> [PartitionSummary] {
        try store.partitions().filter { $0.partition.uid == 0 || $0.partition.uid != geteuid() }
    }
}

extension ServerServices {
    /// Who opens a page: for a program on another machine this broker does, as the person and the way back are here.
    func presentation(_ asked: Presentation, for caller: Caller) -> Presentation {
        caller.elsewhere != nil && process.mode == .user ? .broker : asked
    }

    /// Before a sign-in or sign-out that others hear of.
    ///
    /// - Throws: `throttled`; `unsupported` where the broker has no desktop, because it serves many users.
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

/// What `broker.status` says about the process and nobody else knows.
package struct ProcessFacts: Sendable {
    package var version: String
    package var mode: GetBrokerStatus.Mode
    /// ``BrokerClock/uptime`` at start.
    package var startedAt: Duration
    /// Where the settings come from; nil where nothing is read.
    package var configuration: @Sendable () -> GetBrokerStatus.Configuration? = { nil }
    /// What the process takes of memory; nil where the system does not say.
    package var residentBytes: @Sendable () -> Int? = { nil }

    package init(version: String, mode: GetBrokerStatus.Mode, startedAt: Duration) {
        self.version = version
        self.mode = mode
        self.startedAt = startedAt
    }
}

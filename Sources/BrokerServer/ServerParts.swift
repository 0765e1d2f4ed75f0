import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerValues
import Logging

/// The parts of a server, from the layers below and the daemon.
package struct ServerParts: Sendable {
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
    package var browsers: CallerAllowance
    /// Asks people in their browser about waiting callers; `nil` if there is no browser.
    package var consent: BrowserConsent?
    /// `nil` if the broker serves one user.
    package var users: MultiUserServices?
    /// The sandboxes' own sockets; `nil` if sandboxes have none.
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
        self.process = process
        self.log = log
        browsers = CallerAllowance(.browsers, clock: clock)
        names = JournalNames(vault: vault, owners: policy.owners)
    }
}

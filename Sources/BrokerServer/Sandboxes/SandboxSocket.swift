import BrokerModel
import BrokerRPC
import BrokerSocket
import BrokerValues

/// An open socket of a sandbox, with those of the other doors beside it.
struct SandboxSocket: Sendable {
    let handle: String
    let sandbox: Sandbox
    let partition: Partition
    let openedBy: CallerIdentity
    /// Whether the configuration names it: its folder stays, since it may be mounted where a restart of the broker goes unnoticed.
    let isConfigured: Bool
    let path: String
    let doors: [OpenDoor]
    let openedOn: NumericDate
    let expiresOn: NumericDate?
    let listeners: [LocalListener]
}

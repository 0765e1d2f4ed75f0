import BrokerModel
import BrokerValues

/// Whom a sandbox's own socket means.
package struct SandboxBinding: Sendable {
    let sandbox: Sandbox
    /// Whose it is: nobody else comes in by it.
    let partition: Partition
    /// What its apps were when it was opened, by name.
    /// Nil: whatever they are, for the configuration names them.
    let apps: [String: String?]

    init(configured sandbox: Sandbox, of partition: Partition) {
        (self.sandbox, self.partition) = (sandbox, partition)
        apps = Dictionary((sandbox.apps ?? []).map { ($0, String?.none) }, uniquingKeysWith: { first, _ in first })
    }

    init(_ sandbox: Sandbox, of partition: Partition, apps: [AppRegistration]) {
        self.sandbox = sandbox
        self.partition = partition
        self.apps = Dictionary<String, String?>(
            apps.map { ($0.description.name, $0.grantBinding) }, uniquingKeysWith: { first, _ in first })
    }
}

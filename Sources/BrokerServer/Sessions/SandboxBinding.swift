import BrokerModel
import BrokerValues

/// The sandbox that a socket of its own stands for.
package struct SandboxBinding: Sendable {
    let sandbox: Sandbox
    /// The owner: no other user is served there.
    let partition: Partition
    /// Its apps when it was opened, by name; `nil` for an app named by the configuration, which may change.
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

import BrokerAccess
import BrokerModel
import BrokerValues
import Glibc

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

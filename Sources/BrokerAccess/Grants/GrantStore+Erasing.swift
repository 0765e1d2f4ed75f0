import BrokerModel
import BrokerValues

extension GrantStore {
    /// Takes back what was allowed for these accounts only: the same person, signed in again, is asked anew.
    ///
    /// - Throws: when the disk refuses; the grants count no more all the same.
    package func revokeGrants(for accountIDs: Set<String>, in partition: Partition) async throws(BrokerError) {
        for grant in try list(in: partition).grants where grant.accountID.map(accountIDs.contains) ?? false {
            try await revoke(grant.id, in: partition)
        }
    }
}

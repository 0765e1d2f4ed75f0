import BrokerModel
import BrokerValues

extension GrantStore {
    /// Withdraws the grants for these accounts only: after a new sign-in of the same account the person is asked again.
    ///
    /// - Throws: `internal` (`vaultNotWritable`) for the first grant that the disk refuses to remove. That grant admits no request,
    ///   but those after it are still valid.
    package func revokeGrants(for accountIDs: Set<String>, in partition: Partition) async throws(BrokerError) {
        for grant in try list(in: partition).grants where grant.accountID.map(accountIDs.contains) ?? false {
            try await revoke(grant.id, in: partition)
        }
    }
}

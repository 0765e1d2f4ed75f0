import BrokerModel
import BrokerValues

extension GrantStore {
    /// Withdraws the grants for these accounts only, and then erases the accounts: after a new sign-in of the same account the
    /// person is asked again. A full disk keeps neither back from what is in memory.
    ///
    /// - Throws: what `erase` throws, or else `internal` (`vaultNotWritable`) if the disk refuses to remove the grants, which admit
    ///   no request all the same.
    package func revokeGrants(
        for accountIDs: Set<String>, in partition: Partition,
        erasing erase: () async throws(BrokerError) -> ErasureReport
    ) async throws(BrokerError) -> ErasureReport {
        var failure: BrokerError?
        do throws(BrokerError) {
            _ = try await revoke(in: partition) { $0.accountID.map(accountIDs.contains) ?? false }
        } catch { failure = error }
        let report = try await erase()
        if let failure { throw failure }
        return report
    }
}

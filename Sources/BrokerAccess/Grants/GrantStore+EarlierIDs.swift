import BrokerModel
import BrokerValues

/// Account ids of earlier versions in grants and requests (docs/decisions/0016).
extension GrantStore {
    func current(_ reach: AppReach, in partition: Partition) throws(BrokerError) -> AppReach {
        guard case .id(let id)? = reach.account else { return reach }
        var reach = reach
        reach.account = .id(try current(id, in: partition))
        return reach
    }

    /// The account's current id; an unknown id is returned as it is.
    func current(_ accountID: String, in partition: Partition) throws(BrokerError) -> String {
        guard HomeAccountID.isEarlier(accountID: accountID) else { return accountID }
        if let known = state.withLock({ $0.currentIDs.use(partition) }) { return known[accountID] ?? accountID }
        let known = try self.reading { () throws(VaultError) in
            var ids: [String: String] = [:]
            for record in try vault.loadAll(AccountRecord.self, in: partition).map(\.record) {
                let earlier = record.homeAccountID.earlierAccountID(in: partition, environment: record.environment)
                ids[earlier] = try vault.accountID(
                    of: record.homeAccountID, at: record.environment, in: partition)
            }
            return ids
        }
        state.withLock { $0.currentIDs.keep(known, of: partition) }
        return known[accountID] ?? accountID
    }
}

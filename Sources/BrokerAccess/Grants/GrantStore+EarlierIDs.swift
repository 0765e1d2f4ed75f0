import BrokerModel
import BrokerValues

/// Account ids of earlier versions in grants and requests (docs/decisions/0060).
extension GrantStore {
    func current(_ reach: AppReach, in partition: Partition) throws(BrokerError) -> AppReach {
        func current(_ account: AccountReference?) throws(BrokerError) -> AccountReference? {
            guard case .id(let id)? = account else { return account }
            return .id(try self.current(id, in: partition))
        }
        switch reach {
        case .token(let scopes, let resources, let extra, let account):
            return .token(scopes: scopes, resources: resources, extra: extra, account: try current(account))
        case .account(let account): return .account(try current(account))
        case .removal(let account): return .removal(try current(account))
        case .everything: return .everything
        }
    }

    /// What the account is called now; an id of nobody stays what it is.
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

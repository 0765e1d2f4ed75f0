import BrokerModel
import BrokerValues

/// `accounts.setDefault`: the account that the person means if several are signed in to an app and a tool names none. It is marked
/// in the account's own record, next to what `accounts.current` remembers, so it is included in backups and removed with the
/// account.
struct DefaultAccount: Sendable {
    let services: EngineServices
    let app: AppRegistration
    let partition: Partition

    /// - Returns: the account's id; `nil` if none was chosen.
    func id() throws(BrokerError) -> String? {
        let chosen = try services.knownAccounts(of: app, in: partition).entries.filter { time(of: $0) != nil }
        return chosen.max { (time(of: $0) ?? 0) < (time(of: $1) ?? 0) }?.account.id
    }

    /// - Parameter selector: `nil` clears the choice.
    /// - Throws: `accountNotFound`, `ambiguousAccount`.
    func choose(_ selector: AccountReference?) async throws(BrokerError) -> Account? {
        let account = try selector.map { selector throws(BrokerError) in
            try AccountListing(services: services).require(selector, for: app, in: partition)
        }
        let (_, isPersisted) = try await services.write(in: partition) { index throws(VaultError) in
            (try change(to: account?.id, from: index), ())
        }
        guard isPersisted else {
            throw BrokerError(
                .internal, "The disk did not take the choice; make room, and choose again.", reason: .vaultNotWritable)
        }
        return account
    }

    /// Runs in the write queue.
    private func change(to id: String?, from index: CacheIndex) throws(VaultError) -> CacheChange {
        var change = CacheChange(in: partition)
        for entry in try index.loadAccounts(of: .init(of: app, in: partition)).entries {
            let isChosen = entry.isPrimary && entry.account.id == id
            guard isChosen || time(of: entry) != nil else { continue }
            var record = entry.stored.record
            var apps = record.defaultFor ?? [:]
            apps[app.identity] = isChosen ? services.clock.now : nil
            record.defaultFor = apps.isEmpty ? nil : apps
            change.add(.account(.put(try services.vault.seal(record, secret: nil, in: partition))))
        }
        return change
    }

    private func time(of entry: KnownAccounts.Entry) -> NumericDate? {
        entry.stored.record.defaultFor?[app.identity]
    }
}

import BrokerModel
import BrokerValues

/// `accounts.setDefault`: whom the person means where several are signed in to an app and a tool names nobody. It is marked in the
/// account's own record, beside what `accounts.current` remembers, and so goes wherever that goes: into backups, and away with it.
struct DefaultAccount: Sendable {
    let services: EngineServices
    let app: AppRegistration
    let partition: Partition

    /// - Returns: the account's id; nil where none was chosen.
    func id() throws(BrokerError) -> String? {
        let chosen = try services.knownAccounts(of: app, in: partition).entries.filter { time(of: $0) != nil }
        return chosen.max { (time(of: $0) ?? 0) < (time(of: $1) ?? 0) }?.account.id
    }

    /// - Parameter selector: nil takes the choice back.
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

    /// In the write queue.
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

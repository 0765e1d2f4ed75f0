import BrokerModel
import BrokerTokenCache
import BrokerValues

/// `accounts.setDefault`: the account that the person means if several are signed in to an app and a tool names none. It is marked
/// in the account's own record, next to what `accounts.current` remembers, so it is included in backups and removed with the
/// account.
package struct DefaultAccount: Sendable {
    let listing: AccountListing
    let cache: TokenCache
    let clock: any BrokerClock

    /// - Returns: the account's id; `nil` if none was chosen.
    package func id(for app: AppRegistration, in partition: Partition) throws(BrokerError) -> String? {
        let chosen = try cache.accounts(of: app, in: partition).entries.filter { $0.defaultTime(for: app) != nil }
        return chosen.max { ($0.defaultTime(for: app) ?? 0) < ($1.defaultTime(for: app) ?? 0) }?.account.id
    }

    /// - Parameter selector: `nil` clears the choice.
    /// - Throws: `accountNotFound`, `ambiguousAccount`.
    package func choose(
        _ selector: AccountReference?, for app: AppRegistration, in partition: Partition
    ) async throws(BrokerError) -> Account? {
        let account = try selector.map { selector throws(BrokerError) in
            try listing.require(selector, for: app, in: partition)
        }
        let (_, isPersisted) = try await cache.write(in: partition) { index throws(VaultError) in
            (try change(to: account?.id, for: app, in: partition, from: index), ())
        }
        try cache.requirePersisted(
            isPersisted, orTell: "The disk did not take the choice; make room, and choose again.")
        return account
    }

    /// Runs in the write queue.
    private func change(
        to id: String?, for app: AppRegistration, in partition: Partition, from index: CacheIndex
    ) throws(VaultError) -> CacheChange {
        var change = CacheChange(in: partition)
        for entry in try index.loadAccounts(of: .init(of: app, in: partition)).entries {
            let isChosen = entry.isPrimary && entry.account.id == id
            guard isChosen || entry.defaultTime(for: app) != nil else { continue }
            var record = entry.stored.record
            var apps = record.defaultFor ?? [:]
            apps[app.identity] = isChosen ? clock.now : nil
            record.defaultFor = apps.isEmpty ? nil : apps
            change.add(.account(.put(try cache.vault.seal(record, secret: nil, in: partition))))
        }
        return change
    }
}

extension KnownAccount {
    fileprivate func defaultTime(for app: AppRegistration) -> NumericDate? { stored.record.defaultFor?[app.identity] }
}

import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Implements `accounts.current`: finds the account that is current for an app, and records that the app was given it.
struct CurrentAccountLookup: Sendable {
    let cache: TokenCache
    let clock: any BrokerClock

    func run(of app: AppRegistration, in partition: Partition) async throws(BrokerError) -> CurrentAccounts {
        let known = try cache.accounts(of: app, in: partition)
        let answer = try Self.answer(among: known, for: app)
        guard !changes(of: known, for: app, toldOf: answer.current).isEmpty else { return answer }
        let (outcome, _) = try await cache.write(in: partition) { index throws(VaultError) in
            try tell(app, in: partition, from: index)
        }
        return try outcome.get()
    }

    /// Runs in the write queue.
    private func tell(
        _ app: AppRegistration, in partition: Partition, from index: CacheIndex
    ) throws(VaultError) -> (change: CacheChange, answer: Result<CurrentAccounts, BrokerError>) {
        let known = try index.loadAccounts(of: .init(of: app, in: partition))
        var change = CacheChange(in: partition)
        let answer: CurrentAccounts
        do throws(BrokerError) {
            answer = try Self.answer(among: known, for: app)
        } catch {
            return (change, .failure(error))
        }
        for record in changes(of: known, for: app, toldOf: answer.current) {
            change.add(.account(.put(try cache.vault.seal(record, secret: nil, in: partition))))
        }
        return (change, .success(answer))
    }

    private static func answer(
        among known: KnownAccounts, for app: AppRegistration
    ) throws(BrokerError) -> CurrentAccounts {
        var (signedOutAt, currentAt): ([String: NumericDate], [String: NumericDate]) = ([:], [:])
        for entry in known.entries {
            let (record, id) = (entry.stored.record, entry.account.id)
            signedOutAt[id] = max(
                record.signedOutAt ?? 0, known.signOut(of: record, from: app.identity)?.record.since ?? 0)
            if let time = record.currentFor?[app.identity] { currentAt[id] = max(time, currentAt[id] ?? 0) }
        }
        return try CurrentAccountRule.among(known.visible(to: app), signedOutAt: signedOutAt, currentAt: currentAt)
    }

    /// The account records in which to record the app's current account.
    private func changes(
        of known: KnownAccounts, for app: AppRegistration, toldOf current: Account?
    ) -> [AccountRecord] {
        known.entries.compactMap { entry in
            var record = entry.stored.record
            let isCurrent = entry.isPrimary && entry.account.id == current?.id
            guard isCurrent != (record.currentFor?[app.identity] != nil) else { return nil }
            record.setCurrent(isCurrent ? clock.now : nil, for: app)
            return record
        }
    }
}

extension AccountRecord {
    /// - Parameter time: `nil` if it is not current.
    mutating func setCurrent(_ time: NumericDate?, for app: AppRegistration) {
        var apps = currentFor ?? [:]
        apps[app.identity] = time
        currentFor = apps.isEmpty ? nil : apps
    }
}

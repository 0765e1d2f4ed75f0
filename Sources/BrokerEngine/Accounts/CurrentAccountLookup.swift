import BrokerModel
import BrokerValues

/// `accounts.current`: the account that is current for an app; the broker remembers that the app was told.
struct CurrentAccountLookup: Sendable {
    let services: EngineServices
    let app: AppRegistration
    let partition: Partition

    func run() async throws(BrokerError) -> CurrentAccounts {
        let known = try services.knownAccounts(of: app, in: partition)
        let answer = try answer(among: known)
        guard !changes(of: known, toldOf: answer.current).isEmpty else { return answer }
        let (told, _) = try await services.write(in: partition) { index throws(VaultError) in
            try tell(from: index)
        }
        return try told.get()
    }

    /// In the write queue.
    private func tell(
        from index: CacheIndex
    ) throws(VaultError) -> (change: CacheChange, answer: Result<CurrentAccounts, BrokerError>) {
        let known = try index.loadAccounts(of: .init(of: app, in: partition))
        var change = CacheChange(in: partition)
        let answer: CurrentAccounts
        do throws(BrokerError) {
            answer = try self.answer(among: known)
        } catch {
            return (change, .failure(error))
        }
        for record in changes(of: known, toldOf: answer.current) {
            change.add(.account(.put(try services.vault.seal(record, secret: nil, in: partition))))
        }
        return (change, .success(answer))
    }

    private func answer(among known: KnownAccounts) throws(BrokerError) -> CurrentAccounts {
        var (signedOutAt, currentAt): ([String: NumericDate], [String: NumericDate]) = ([:], [:])
        for entry in known.entries {
            let (record, id) = (entry.stored.record, entry.account.id)
            signedOutAt[id] = max(
                record.signedOutAt ?? 0, known.signOut(of: record, from: app.identity)?.record.since ?? 0)
            if let time = record.currentFor?[app.identity] { currentAt[id] = max(time, currentAt[id] ?? 0) }
        }
        return try CurrentAccountRule.among(known.visible(to: app), signedOutAt: signedOutAt, currentAt: currentAt)
    }

    /// The records that have to say that the app was told.
    private func changes(of known: KnownAccounts, toldOf current: Account?) -> [AccountRecord] {
        known.entries.compactMap { entry in
            var record = entry.stored.record
            let isCurrent = entry.isPrimary && entry.account.id == current?.id
            guard isCurrent != (record.currentFor?[app.identity] != nil) else { return nil }
            record.setCurrent(isCurrent ? services.clock.now : nil, for: app)
            return record
        }
    }
}

extension AccountRecord {
    /// - Parameter time: nil where it is not current.
    mutating func setCurrent(_ time: NumericDate?, for app: AppRegistration) {
        var apps = currentFor ?? [:]
        apps[app.identity] = time
        currentFor = apps.isEmpty ? nil : apps
    }
}

import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Implements `cache.importBackup`. It reads a whole backup up to its authenticated end before it changes anything, and adds what
/// is not here.
///
/// Registrations come first, each by itself; then accounts before tokens. The accounts and tokens of an ordinary backup are one
/// transaction; those of a very large one are several, each consistent by itself, and repeating the import completes what a broker
/// that was killed left undone.
struct CacheRestore: Sendable {
    let cache: TokenCache
    let roster: any AppRoster
    let throttle: ThrottleBox
    let clock: any BrokerClock

    /// - Parameters:
    ///   - replacesApps: whether existing registrations that differ are replaced.
    ///   - requireGoing: throws if a lock or a stop ends the import: what was merged by then is valid, and repeating the import
    ///     brings the rest.
    func run(
        _ backup: any OpenedBackup, in partition: Partition, replacesApps: Bool,
        requireGoing: @Sendable () throws(BrokerError) -> Void
    ) async throws(BrokerError) -> CacheRestoreReport {
        func next(_ reader: any BackupReading) throws(BrokerError) -> BackupItem? {
            try requireGoing()
            do throws(BackupError) { return try reader.next() } catch { throw BrokerError(error) }
        }
        let check = try reader(of: backup)
        while try next(check) != nil { await Task.yield() }

        var report = CacheRestoreReport()
        var (appsLeft, peopleLeft) = (LeftAlone(others: "apps"), LeftAlone(others: "accounts"))
        var batch = BackupBatch(in: partition, at: clock.now)
        let reader = try reader(of: backup)
        while let item = try next(reader) {
            if case .beginning(let createdOn) = item { report.createdOn = createdOn }
            if case .app(let record, let secret) = item {
                if let problem = try await restore(record, secret, replacesApps, in: partition, &report) {
                    appsLeft.add(problem, to: &report)
                }
                continue
            }
            if batch.isFull, !batch.continues(with: item) {
                try await merge(batch, &report, &peopleLeft)
                batch = BackupBatch(in: partition, at: clock.now)
            }
            do throws(VaultError) { try batch.add(item, sealedBy: cache.vault) } catch { throw BrokerError(error) }
            await Task.yield()
        }
        try await merge(batch, &report, &peopleLeft)
        return report
    }

    private func reader(of backup: any OpenedBackup) throws(BrokerError) -> any BackupReading {
        do throws(BackupError) { return try backup.reader() } catch { throw BrokerError(error) }
    }

    /// - Returns: why an app that differs from the backup is left unchanged.
    private func restore(
        _ record: AppRecord, _ secret: Secret?, _ replacesApps: Bool, in partition: Partition,
        _ report: inout CacheRestoreReport
    ) async throws(BrokerError) -> String? {
        let outcome = try await roster.restore(
            record, clientSecret: secret, replacing: replacesApps, in: partition)
        switch outcome {
        case .added: report.apps.added += 1
        case .replaced: report.apps.replaced += 1
        case .same: report.apps.kept += 1
        case .kept(let why):
            report.apps.kept += 1
            return "The app \(record.name) is left as it is: \(why)"
        }
        return nil
    }

    private func merge(
        _ batch: BackupBatch, _ report: inout CacheRestoreReport, _ peopleLeft: inout LeftAlone
    ) async throws(BrokerError) {
        let partition = batch.partition
        let apps = roster.apps(in: partition)
        let vault = cache.vault
        let ((merged, left, change), isPersisted) = try await cache.write(in: partition) { index throws(VaultError) in
            var merge = BackupMerge(batch, into: index, vault: vault, apps: apps)
            try merge.run()
            return (merge.change, (merge.report, merge.leftAlone, merge.change))
        }
        report.add(merged)
        for sentence in left.sorted() { peopleLeft.add(sentence, to: &report) }
        try cache.requirePersisted(
            isPersisted || change.isEmpty,
            orTell: "What was imported is in memory, but the disk did not take it; make room and import again.")
        for account in change.accounts { throttle.clear(.init(account), of: account.group, in: partition) }
    }
}

/// The sentences about what an import leaves alone. The first ones suffice.
private struct LeftAlone {
    private static let maximum = 100
    let others: String
    private var count = 0

    init(others: String) { self.others = others }

    mutating func add(_ sentence: String, to report: inout CacheRestoreReport) {
        count += 1
        if count <= Self.maximum { report.problems.append(sentence) }
        if count == Self.maximum + 1 { report.problems.append("So are other \(others).") }
    }
}

extension CacheChange {
    fileprivate var accounts: [AccountRecord] {
        rows.compactMap { if case .account(.put(let stored)) = $0 { stored.record } else { nil } }
    }
}

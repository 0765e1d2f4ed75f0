import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Implements `cache.export` and `cache.importBackup`, part by part.
package struct CacheBackups: Sendable {
    let cache: TokenCache
    let store: any BackupStore
    let transfers: CacheTransfers
    let quota: PartitionQuota
    let restore: CacheRestore
    let clock: any BrokerClock

    /// Begins a backup of a person's apps, accounts and tokens.
    ///
    /// - Returns: the transfer's id.
    /// - Throws: `invalidParameter` for a short passphrase; `internal` (`vaultNotWritable`) while the disk lacks changes that
    ///   memory has; `throttled` for too many transfers.
    package func beginExport(with passphrase: Secret, of partition: Partition) async throws(BrokerError) -> String {
        let id = try transfers.begin(in: partition)
        do throws(BrokerError) {
            guard await cache.writer.flush(partition) else {
                throw BrokerError(
                    .internal,
                    "The vault could not be written, so a backup would lack the newest; make room, then export again.",
                    reason: .vaultNotWritable)
            }
            let backup = try await transfers.key(for: id) { [store, clock] () async throws(BackupError) in
                try await store.beginBackup(with: passphrase, at: clock.now)
            }
            try transfers.ready(id, CacheExport(of: partition, from: cache.vault, to: backup))
        } catch {
            transfers.remove(id)
            throw error
        }
        return id
    }

    /// The next bytes of the file.
    package func exportPart(
        of transfer: String, in partition: Partition
    ) throws(BrokerError) -> (bytes: [UInt8], isLast: Bool) {
        guard case .export(let export) = try transfers.transfer(transfer, in: partition) else {
            throw CacheTransfers.over
        }
        let part = try export.part()
        if part.isLast { transfers.remove(transfer) }
        return part
    }

    /// Keeps a part of a backup, still sealed, until all parts are there.
    ///
    /// - Parameter transfer: `nil` for the first part.
    /// - Returns: the transfer's id.
    package func addImportPart(
        _ bytes: [UInt8], to transfer: String?, in partition: Partition
    ) throws(BrokerError) -> String {
        try quota.requireRoom(forGathering: transfers.gatheredBytes(in: partition) + bytes.count)
        let gathered: any GatheredBackup
        if let transfer {
            guard case .gathered(let begun) = try transfers.transfer(transfer, in: partition) else {
                throw CacheTransfers.over
            }
            gathered = begun
        } else {
            do throws(BackupError) { gathered = try store.gatherBackup() } catch { throw BrokerError(error) }
        }
        do throws(BackupError) { try gathered.append(bytes) } catch { throw BrokerError(error) }
        if let transfer { return transfer }
        return try transfers.add(.gathered(gathered), in: partition)
    }

    /// Merges a backup that is complete.
    ///
    /// - Throws: if nothing was changed, unless the disk refuses part of it.
    package func importBackup(
        _ transfer: String, with passphrase: Secret, replacingApps: Bool, in partition: Partition
    ) async throws(BrokerError) -> CacheRestoreReport {
        try cache.requireCertain(partition)
        let backup = try transfers.take(transfer, in: partition)
        defer {
            transfers.letGo(transfer)
            quota.countAnew(partition)
        }
        let opened = try await transfers.key(for: transfer) { () async throws(BackupError) in
            try await backup.open(with: passphrase)
        }
        let report = try await restore.run(opened, in: partition, replacesApps: replacingApps) {
            [transfers] () throws(BrokerError) in try transfers.requireGoing(transfer)
        }
        transfers.remove(transfer)
        return report
    }
}

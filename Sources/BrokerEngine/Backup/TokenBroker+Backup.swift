import BrokerModel
import BrokerValues

extension TokenBroker {
    /// Begins a backup of a person's apps, accounts and tokens.
    ///
    /// - Returns: the transfer's id.
    /// - Throws: for a short passphrase, and while the disk lacks changes that memory has.
    package func beginExport(with passphrase: Secret, of partition: Partition) async throws(BrokerError) -> String {
        let id = try services.transfers.begin(in: partition)
        do throws(BrokerError) {
            guard await services.writer.flush(partition) else {
                throw BrokerError(
                    .internal,
                    "The vault could not be written, so a backup would lack the newest; make room, then export again.",
                    reason: .vaultNotWritable)
            }
            let backup = try await services.transfers.key(for: id) { [services] () async throws(BackupError) in
                try await services.backups.beginBackup(with: passphrase, at: services.clock.now)
            }
            try services.transfers.ready(id, CacheExport(of: partition, from: services.vault, to: backup))
        } catch {
            services.transfers.remove(id)
            throw error
        }
        return id
    }

    /// The next bytes of the file.
    package func exportPart(
        of transfer: String, in partition: Partition
    ) throws(BrokerError) -> (bytes: [UInt8], isLast: Bool) {
        guard case .export(let export) = try services.transfers.transfer(transfer, in: partition) else {
            throw CacheTransfers.over
        }
        let part = try export.part()
        if part.isLast { services.transfers.remove(transfer) }
        return part
    }

    /// Keeps a part of a backup, still sealed, until all parts are there.
    ///
    /// - Parameter transfer: `nil` for the first part.
    /// - Returns: the transfer's id.
    package func addImportPart(
        _ bytes: [UInt8], to transfer: String?, in partition: Partition
    ) throws(BrokerError) -> String {
        try quota.requireRoom(forGathering: services.transfers.gatheredBytes(in: partition) + bytes.count)
        let gathered: any GatheredBackup
        if let transfer {
            guard case .gathered(let begun) = try services.transfers.transfer(transfer, in: partition) else {
                throw CacheTransfers.over
            }
            gathered = begun
        } else {
            do throws(BackupError) { gathered = try services.backups.gatherBackup() } catch { throw BrokerError(error) }
        }
        do throws(BackupError) { try gathered.append(bytes) } catch { throw BrokerError(error) }
        if let transfer { return transfer }
        return try services.transfers.add(.gathered(gathered), in: partition)
    }

    /// Merges a backup that is complete.
    ///
    /// - Throws: if nothing was changed, unless the disk refuses part of it.
    package func importBackup(
        _ transfer: String, with passphrase: Secret, replacingApps: Bool, in partition: Partition
    ) async throws(BrokerError) -> CacheRestoreReport {
        try services.requireCertain(partition)
        let backup = try services.transfers.take(transfer, in: partition)
        defer {
            services.transfers.letGo(transfer)
            quota.countAnew(partition)
        }
        let opened = try await services.transfers.key(for: transfer) { () async throws(BackupError) in
            try await backup.open(with: passphrase)
        }
        let restore = CacheRestore(services: services, partition: partition, replacesApps: replacingApps) {
            [transfers = services.transfers] () throws(BrokerError) in try transfers.requireGoing(transfer)
        }
        let report = try await restore.run(opened)
        services.transfers.remove(transfer)
        return report
    }
}

import BrokerModel
import Logging

/// Checks everything that is read against the manifest (docs/decisions/0007).
extension Vault {
    /// Call it as soon as there is a key, before anything is read. While the vault is locked, the known manifest stays.
    ///
    /// - Returns: whether a roll-back was detected that the file does not record yet.
    func readManifest(_ wrapping: KeyWrapping) throws(VaultError) -> Bool {
        guard !known.isStarted else { return false }
        let keys = try vaultKeys(wrapping)
        let start = ManifestAtStart(
            try reader.manifestAtStart(), keys: keys, remembered: anchors.map { $0.read(keys) })
        known.start(with: start.vault)
        switch start.finding {
        case .newest: return false
        case .manifestLost:
            logger.error("the vault's manifest is gone or was changed: its records may be old ones")
        case .rolledBack:
            logger.error("an earlier vault was put in place of the last one: its records are old ones")
        }
        return true
    }

    private func vaultKeys(_ wrapping: KeyWrapping) throws(VaultError) -> PartitionKeys? {
        guard let wrapped = try reader.wrappedKey(of: .wholeVault) else { return nil }
        if let keys = wrapping.unwrap(wrapped, of: .wholeVault) { return keys.keys }
        try vaultWriter.dropVaultKey()
        return nil
    }

    /// Reads until the result is conclusive, and detects an earlier state of the partition.
    func readChecked(
        in partition: Partition, _ body: () throws(VaultError) -> VaultReader.Snapshot
    ) throws(VaultError) -> VaultReader.Snapshot {
        while true {
            let before = known.view(of: partition)
            let found = try body()
            let root = found.root.flatMap { Fingerprint($0) }
            switch known.judge(root, of: partition, since: before) {
            case .newest: return found
            case .unclear: continue
            case .rolledBack:
                noticeRollback(of: partition, to: root)
                return found
            }
        }
    }

    func noticeRollback(of partition: Partition, to root: Fingerprint?) {
        guard known.rollBack(partition, to: root) else { return }
        logger.error(rolledBack: partition)
        queue.run(of: partition) { [self] in noteRollback() }
    }

    /// On the vault's queue. If writing fails, the next start detects it again.
    func noteRollback() {
        do {
            try vaultWriter.note()
        } catch {
            logger.warning("the roll-back of the vault could not be recorded", error: error)
        }
    }

    func root(_ box: [UInt8]?, of partition: Partition, _ keys: PartitionKeys) -> ManifestRoot {
        known.root(box.flatMap { Fingerprint($0) }, of: partition) {
            ManifestRoot(box, of: partition, keys: keys)
        }
    }
}

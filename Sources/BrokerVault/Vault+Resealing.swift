import BrokerModel
import BrokerValues

/// Replaces the data key, step by step (docs/decisions/0008). Each step is one transaction, and a broker that was killed after
/// any of them continues there:
///
/// 1. The new key is wrapped together with the former one. New records are sealed with the new key; both open.
/// 2. Some rows at a time, rows of the former key are resealed.
/// 3. When no such row is left, the former key is dropped.
extension Vault {
    private static let rowsPerStep = 128

    package func replaceDataKeys(at now: NumericDate) async throws(VaultError) {
        try await onQueue { [self] () throws(VaultError) in
            let stored = try storedKeys()
            guard stored.values.allSatisfy({ $0.former == nil }) else {
                resumeResealing()
                throw VaultError.unsuitable(
                    "Records are still being resealed with the last new key. Try again when brokerctl key status reports that this is done."
                )
            }
            var header = header
            header.wrappedOn = now
            try replace(stored.mapValues(\.replaced), header)
        }
        logger.notice("the vault has a new data key; its records are being resealed")
        resumeResealing()
    }

    /// On the vault's queue.
    private func replace(_ new: [Partition: DataKeys], _ header: VaultHeader) throws(VaultError) {
        let wrapping = try keys.currentWrapping()
        var wrapped: [Partition: [UInt8]] = [:]
        for (partition, keys) in new { wrapped[partition] = wrapping.wrap(keys, of: partition) }
        try vaultWriter.write(wrapped, header)
        keys.replace(new)
        self.header = header
    }

    /// Continues the work of an earlier broker, or of this one before it was locked or met an error. Does not wait.
    func resumeResealing() {
        let partition: Partition?
        do { partition = try nextToReseal() } catch { return }
        guard partition != nil else {
            resealing.withLock { state in
                if state == .failed { state = .ended }
            }
            return
        }
        let isMine = resealing.withLock { state in
            defer { state = .running }
            return state != .running
        }
        // The task must not keep the vault alive.
        if isMine, !queue.run(of: .wholeVault, { [weak self] in self?.resealStep(of: nil, from: .min) }) {
            resealing.withLock { $0 = .ended }
        }
    }

    /// Call it after a successful write: the disk may have room again.
    func retryResealing() {
        if resealing.withLock({ $0 == .failed }) { resumeResealing() }
    }

    /// Between two steps, other jobs of the queue get their turn.
    private func resealStep(of partition: Partition?, from page: UInt8) {
        do throws(VaultError) {
            let wanted = if let partition { partition } else { try nextToReseal() }
            guard let partition = wanted else {
                resealing.withLock { $0 = .ended }
                return
            }
            let next = try resealRows(of: partition, from: page)
            if next == nil { try settle(partition) }
            vaultWriter.tidy(onlyIfDue: true)
            let isGoingOn = queue.run(of: .wholeVault) { [weak self] in
                self?.resealStep(of: next == nil ? nil : partition, from: next ?? .min)
            }
            if !isGoingOn { resealing.withLock { $0 = .ended } }
        } catch {
            // If locked, it continues when the vault is unlocked; after any other error, after the next commit.
            resealing.withLock { $0 = error == .locked ? .ended : .failed }
            if error != .locked { logger.warning("records could not be sealed with the new key yet", error: error) }
        }
    }

    /// Leaves out a partition whose key is damaged.
    private func nextToReseal() throws(VaultError) -> Partition? {
        let wrapping = try keys.currentWrapping()
        return try reader.wrappedKeys().first { wrapping.unwrap($0.value, of: $0.key)?.former != nil }?.key
    }

    /// Page by page of the manifest; each page is rewritten as well, even if its rows are gone.
    ///
    /// - Returns: the page to continue with; nil after the last.
    private func resealRows(of partition: Partition, from page: UInt8) throws(VaultError) -> UInt8? {
        guard partition != .wholeVault, let keys = try existingKeys(of: partition) else { return nil }
        let (found, next) = try vaultWriter.replace(in: partition, from: page, enough: Self.rowsPerStep) {
            [sealer] (row) throws(VaultError) in
            guard let record = SealedRecord(row, in: partition) else { return nil }
            return try sealer.resealed(record, keys: keys)
        }
        _ = damage.found(found)
        quarantineDamaged()
        return next
    }

    private func settle(_ partition: Partition) throws(VaultError) {
        guard let box = try reader.wrappedKey(of: partition),
            let keys = try keys.currentWrapping().unwrap(box, of: partition)
        else { return }
        try replace([partition: keys.settled], header)
        vaultWriter.tidy()
        logger.notice("every record is sealed with the new data key")
    }

    /// For records that were sealed before the key was replaced, and are written after it.
    ///
    /// - Throws: ``VaultError/erased`` for a record that was sealed before its partition was erased: nobody could open it.
    func currentlySealed(_ record: SealedRecord) throws(VaultError) -> SealedRecord {
        guard !keys.isLocked else { return record }
        let current = try existingKeys(of: record.partition)
        if keys.wasErased(record.partition), !opens(record, current) { throw .erased }
        guard let current, !current.former.isEmpty else { return record }
        return try sealer.resealed(record, keys: current) ?? record
    }

    private func opens(_ record: SealedRecord, _ keys: PartitionKeys?) -> Bool {
        guard let keys else { return false }
        return (try? sealer.open(record, keys: keys) { _, _ in true }) ?? false
    }
}

extension SealedRecord {
    /// - Returns: nil for a row whose columns no broker wrote.
    fileprivate convenience init?(_ row: StoredRow, in partition: Partition) {
        guard let kind = RecordKind(storedAs: row.kind) else { return nil }
        self.init(partition: partition, kind: kind, rowKey: row.rowKey, bucketKey: row.bucketKey, box: row.box)
    }
}

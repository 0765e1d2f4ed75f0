import BrokerModel
import BrokerValues

extension Vault {
    package func name(of parts: [String], in partition: Partition) throws(VaultError) -> [UInt8] {
        RowKeys(of: partition, keys: try keysMakingNew(for: partition)).name(of: parts)
    }

    private func keysMakingNew(for partition: Partition) throws(VaultError) -> PartitionKeys {
        try keys.keysMakingNew(for: partition, stored: reader.wrappedKey(of:))
    }

    package func seal<Record: VaultRecord>(
        _ record: Record, secret: Secret?, in partition: Partition
    ) throws(VaultError) -> StoredRecord<Record> {
        let keys = try keysMakingNew(for: partition)
        let names = RowKeys(of: partition, keys: keys)
        guard let fields = try? JSONTextEncoder.encode(record) else {
            throw .io(
                "A record of kind \(Record.kind) cannot be encoded. Please report this as an error of the broker.")
        }
        let rowKey = names.rowKey(record.key)
        let bucketKey = names.bucketKey(Record.kind, bucket: record.bucket)
        let sealed = try sealer.seal(
            fields: fields, secret: secret, kind: Record.kind, rowKey: rowKey, bucketKey: bucketKey,
            in: partition, keys: keys)
        return StoredRecord(record: record, sealed: sealed)
    }

    package func commit(
        _ change: VaultChange, onDisk: @escaping @Sendable () -> Void
    ) async throws(VaultError) {
        guard !change.isEmpty else { return }
        let endsTokens =
            change.puts.contains { DecryptedTokenCache.mayHold($0.kind) }
            || change.deletes.contains { DecryptedTokenCache.mayHold($0.kind) }
        try await onQueue(of: change.partition) { [self] () throws(VaultError) in
            let isRecordingOwner = change.puts.contains { $0.kind == .partitionOwner }
            // A request from before the erasure must not leave records without an owner.
            if !isLocked, keys.hasLostOwner(change.partition), !isRecordingOwner,
                change.puts.contains(where: \.kind.isUserRecord)
            {
                throw .erased
            }
            let unproven = try vaultWriter.apply(try writeSet(of: change))
            if isRecordingOwner { keys.didRecordOwner(of: change.partition) }
            onDisk()
            // Deleted and replaced secrets must not stay in the cache.
            if endsTokens { opened.wipe() }
            _ = damage.found(QuarantineQueue.Found(places: unproven))
        } afterwards: { [self] in
            quarantineDamaged()
            retryResealing()
            vaultWriter.tidy(onlyIfDue: true)
        }
    }

    /// The change under the partition's keys of this moment. Call it on the vault's queue: while the change waited, the keys may have
    /// been replaced or erased.
    ///
    /// - Throws: ``VaultError/erased``.
    private func writeSet(of change: VaultChange) throws(VaultError) -> WriteSet {
        var write = WriteSet(puts: [], deletes: [])
        write.puts = try change.puts.map { (record) throws(VaultError) in try currentlySealed(record) }
        // Without keys there are no rows, and a delete must not make a new partition.
        guard !change.deletes.isEmpty, let keys = try existingKeys(of: change.partition) else { return write }
        let names = RowKeys(of: change.partition, keys: keys)
        write.deletes = change.deletes.compactMap { key in
            ManifestPlace(change.partition, bucketKey: names.bucketKey(key.kind, bucket: key.bucket))
                .map { WriteSet.Delete(rowKey: names.rowKey(key), place: $0) }
        }
        return write
    }

    /// Accepts the current state of a partition: an earlier state that replaced its last one, and the rest after records were set
    /// aside or lost.
    package func acceptState(of partition: Partition) async throws(VaultError) {
        try await onQueue(of: partition) { [self] () throws(VaultError) in
            quarantineDamaged()
            let (moved, missing) = try vaultWriter.accept(partition)
            damage.accepted(leaving: moved, missing: missing)
        }
    }

    /// Moves the write-ahead log into the file now; otherwise it happens about a second after the last write. From then on, the
    /// files no longer contain deleted or replaced records.
    package func checkpoint() async throws(VaultError) {
        try await onQueue { [vaultWriter] () throws(VaultError) in
            try vaultWriter.checkpoint()
        }
    }

    /// - Parameters:
    ///   - partition: the one whose turn it takes.
    ///   - afterwards: runs on the queue as well, after the caller has been answered and if `body` succeeded.
    func onQueue(
        of partition: Partition = .wholeVault, _ body: @escaping @Sendable () throws(VaultError) -> Void,
        afterwards: @escaping @Sendable () -> Void = {}
    ) async throws(VaultError) {
        let result: Result<Void, VaultError> = await withCheckedContinuation { continuation in
            let isAccepted = queue.run(of: partition) {
                do throws(VaultError) {
                    try body()
                    continuation.resume(returning: .success(()))
                    afterwards()
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
            if !isAccepted { continuation.resume(returning: .failure(.closed)) }
        }
        do throws(VaultError) {
            try result.get()
        } catch {
            errors.add()
            throw error
        }
    }
}

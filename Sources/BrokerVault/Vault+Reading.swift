import BrokerModel
import BrokerValues
import Logging

extension Vault {
    package func load<Record: VaultRecord>(
        _ type: Record.Type, bucket: [String], in partition: Partition
    ) throws(VaultError) -> [StoredRecord<Record>] {
        guard let keys = try existingKeys(of: partition) else { return [] }
        let names = RowKeys(of: partition, keys: keys)
        let rows = try reader.rows(bucketKey: names.bucketKey(Record.kind, bucket: bucket))
        return try open(rows, keys, in: partition)
    }

    package func loadAll<Record: VaultRecord>(
        _ type: Record.Type, in partition: Partition
    ) throws(VaultError) -> [StoredRecord<Record>] {
        guard let keys = try existingKeys(of: partition) else { return [] }
        return try open(try reader.rows(Record.kind, in: partition), keys, in: partition)
    }

    package func loadPage<Record: VaultRecord>(
        _ type: Record.Type, after row: Int64, atMost count: Int, in partition: Partition
    ) throws(VaultError) -> RecordPage<Record> {
        guard let keys = try existingKeys(of: partition) else { return RecordPage(records: [], lastRow: nil) }
        let rows = try reader.rows(Record.kind, after: row, in: partition, atMost: count)
        return RecordPage(records: try open(rows, keys, in: partition), lastRow: rows.last?.id)
    }

    package func withSecret<Result>(
        of sealed: SealedRecord, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(VaultError) -> Result {
        guard let keys = try existingKeys(of: sealed.partition) else { throw .recordDamaged }
        return try sealer.open(sealed, keys: keys) { _, secret in body(secret) }
    }

    func existingKeys(of partition: Partition) throws(VaultError) -> PartitionKeys? {
        try keys.keys(of: partition) { (partition) throws(VaultError) in try reader.wrappedKey(of: partition) }
    }

    private func open<Record: VaultRecord>(
        _ rows: [StoredRow], _ keys: PartitionKeys, in partition: Partition
    ) throws(VaultError) -> [StoredRecord<Record>] {
        var records: [StoredRecord<Record>] = []
        records.reserveCapacity(rows.count)
        var damaged: [Int64] = []
        for row in rows {
            guard row.partition == Int64(partition.uid), row.kind == Int64(Record.kind.rawValue) else {
                damaged.append(row.id)
                continue
            }
            do {
                let record = try sealer.open(row, keys: keys) { fields, _ in
                    try? JSONNodeDecoder.decode(Record.self, from: JSONReader.read(fields, within: .own))
                }
                guard let record else {
                    // Genuine, so no damage: another version of the broker wrote other fields. It stays where it is.
                    logger.error("a record does not have the fields of its kind", metadata: ["kind": "\(Record.kind)"])
                    continue
                }
                let sealed = SealedRecord(
                    partition: partition, kind: Record.kind, rowKey: row.rowKey, bucketKey: row.bucketKey, box: row.box)
                records.append(StoredRecord(record: record, sealed: sealed))
            } catch .recordDamaged {
                damaged.append(row.id)
            }
        }
        setAside(damaged)
        return records
    }

    private func setAside(_ rows: [Int64]) {
        guard damage.found(rows) else { return }
        queue.run { [self] in quarantineDamaged() }
    }

    /// On the vault's queue. What cannot be moved now (a full disk) is tried again after the next commit.
    func quarantineDamaged() {
        let rows = damage.waiting
        guard !rows.isEmpty else { return }
        do {
            let (moved, mended) = try writeSide.quarantine(rows) { (row) throws(VaultError) in try isWhole(row) }
            damage.settled(moved: moved, mended: mended)
            guard !moved.isEmpty else { return }
            logger.warning("damaged records were found and set aside", metadata: ["count": "\(moved.count)"])
        } catch {
            logger.warning("damaged records were found and could not be set aside yet", error: error)
        }
    }

    private func isWhole(_ row: StoredRow) throws(VaultError) -> Bool {
        guard let uid = UInt32(exactly: row.partition), let keys = try existingKeys(of: Partition(uid: uid)) else {
            return false
        }
        do {
            return try sealer.open(row, keys: keys) { _, _ in true }
        } catch .recordDamaged {
            return false
        }
    }
}

import BrokerModel
import BrokerValues
import Logging

extension Vault {
    package func load<Record: VaultRecord>(
        _ type: Record.Type, bucket: [String], in partition: Partition
    ) throws(VaultError) -> [StoredRecord<Record>] {
        guard partition != .wholeVault else { return [] }
        func bucketKey(_ keys: PartitionKeys) -> [UInt8] {
            RowKeys(of: partition, keys: keys).bucketKey(Record.kind, bucket: bucket)
        }
        let read = try snapshot(of: partition) { (keys) throws(VaultError) in
            let bucketKey = bucketKey(keys)
            return try reader.read(bucketKey: bucketKey, at: ManifestPlace(partition, page: bucketKey[0]))
        }
        guard let (found, keys) = read else { return [] }
        let name = Fingerprint(bucketKey(keys))
        return try open(found, pages: [bucketKey(keys)[0]], keys, in: partition) { $0.bucket == name }
    }

    package func loadAll<Record: VaultRecord>(
        _ type: Record.Type, in partition: Partition
    ) throws(VaultError) -> [StoredRecord<Record>] {
        let read = try snapshot(of: partition) { (_) throws(VaultError) in try reader.read(Record.kind, in: partition) }
        guard let (found, keys) = read else { return [] }
        let pages = root(found.root, of: partition, keys).pages.keys
        return try open(found, pages: pages, keys, in: partition) { $0.kind == Record.kind.rawValue }
    }

    package func loadPage<Record: VaultRecord>(
        _ type: Record.Type, after row: Int64, atMost count: Int, in partition: Partition
    ) throws(VaultError) -> RecordPage<Record> {
        let read = try snapshot(of: partition) { (_) throws(VaultError) in
            try reader.read(Record.kind, after: row, atMost: count, in: partition)
        }
        guard let (found, keys) = read else { return RecordPage(records: [], lastRow: nil) }
        // Missing rows are not detected here, because the expected rows of a page are unknown.
        let rows = Set(found.rows.compactMap { Fingerprint($0.rowKey) })
        let pages = Set(found.rows.compactMap(\.bucketKey.first))
        let records: [StoredRecord<Record>] = try open(found, pages: pages, keys, in: partition) {
            rows.contains($0.row)
        }
        return RecordPage(records: records, lastRow: found.rows.last?.id)
    }

    /// The rows of one moment, and the keys that open them.
    ///
    /// - Returns: nil for a partition without keys.
    private func snapshot(
        of partition: Partition, _ read: (PartitionKeys) throws(VaultError) -> VaultReader.Snapshot
    ) throws(VaultError) -> (VaultReader.Snapshot, PartitionKeys)? {
        while true {
            let changes = keys.changes
            guard let keys = try existingKeys(of: partition) else { return nil }
            let found = try readChecked(in: partition) { () throws(VaultError) in try read(keys) }
            // Keys that were replaced meanwhile do not open rows that were resealed since.
            if self.keys.changes == changes { return (found, keys) }
        }
    }

    package func withSecret(
        of sealed: SealedRecord, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(VaultError) {
        // Read before the keys are obtained: an entry whose keys are replaced meanwhile is not found again.
        let keyChanges = keys.changes
        let mayBeKept = DecryptedTokenCache.mayHold(sealed.kind)
        if mayBeKept, opened.withToken(sealed, keyChanges, body) { return }
        guard let keys = try existingKeys(of: sealed.partition) else { throw .recordDamaged }
        try sealer.open(sealed, keys: keys) { _, secret in
            body(secret)
            guard mayBeKept else { return }
            opened.keep(secret, of: sealed, keyChanges)
            // If the vault was locked since the keys were obtained, wiped secrets must not come back.
            if isLocked { opened.wipe() }
        }
    }

    package func forgetOpened() { opened.forget() }

    /// Gives back the memory that a burst of reads took; call it after an idle period.
    package func trim() {
        queue.run(of: .wholeVault) { [store] in store.trim() }
    }

    func existingKeys(of partition: Partition) throws(VaultError) -> PartitionKeys? {
        if let found = try keys(of: partition) { return found }
        let before = known.view(of: partition)
        let found = try keys(of: partition)
        if found == nil, known.judge(nil, of: partition, since: before) == .rolledBack {
            noticeRollback(of: partition, to: nil)
        }
        return found
    }

    private func keys(of partition: Partition) throws(VaultError) -> PartitionKeys? {
        try keys.keys(of: partition, stored: reader.wrappedKey(of:))
    }

    /// - Parameters:
    ///   - pages: of the manifest, that list the wanted rows.
    ///   - isWanted: whether an entry there belongs to the request.
    private func open<Record: VaultRecord>(
        _ found: VaultReader.Snapshot, pages: some Collection<UInt8>, _ keys: PartitionKeys, in partition: Partition,
        where isWanted: (ManifestPage.Entry) -> Bool
    ) throws(VaultError) -> [StoredRecord<Record>] {
        var damaged = QuarantineQueue.Found()
        let listed = entries(on: Array(pages), of: found, keys, in: partition, &damaged, where: isWanted)
        var review = PageReview(listed)
        var records: [StoredRecord<Record>] = []
        records.reserveCapacity(found.rows.count)
        for row in found.rows {
            guard row.partition == Int64(partition.uid), row.kind == Int64(Record.kind.rawValue), review.isListed(row)
            else {
                damaged.rows.insert(row.id)
                continue
            }
            do {
                if let record: StoredRecord<Record> = try record(in: row, keys, of: partition) {
                    records.append(record)
                }
            } catch .recordDamaged {
                damaged.rows.insert(row.id)
            }
        }
        for gone in review.unaccounted { damaged.places.insert(ManifestPlace(partition, page: gone.bucket.firstByte)) }
        setAside(damaged, of: partition)
        return records
    }

    private func entries(
        on pages: [UInt8], of found: VaultReader.Snapshot, _ keys: PartitionKeys, in partition: Partition,
        _ damaged: inout QuarantineQueue.Found, where isWanted: (ManifestPage.Entry) -> Bool
    ) -> [ManifestPage.Entry] {
        let root = root(found.root, of: partition, keys)
        var listed: [ManifestPage.Entry] = []
        for number in pages {
            let place = ManifestPlace(partition, page: number)
            switch root.page(place, found: found.pages[number], keys: keys) {
            case .listed(let page): listed += page.entries.filter(isWanted)
            case .unproven: damaged.places.insert(place)
            }
        }
        return listed
    }

    /// - Returns: nil for a record of another version of the broker, with other fields. It is genuine and stays where it is.
    private func record<Record: VaultRecord>(
        in row: StoredRow, _ keys: PartitionKeys, of partition: Partition
    ) throws(VaultError) -> StoredRecord<Record>? {
        let record = try sealer.open(row, keys: keys) { fields, _ in
            try? JSONNodeDecoder.decode(Record.self, from: JSONReader.read(fields, within: .own))
        }
        guard let record else {
            logger.error("a record does not have the fields of its kind", metadata: ["kind": "\(Record.kind)"])
            return nil
        }
        let sealed = SealedRecord(
            partition: partition, kind: Record.kind, rowKey: row.rowKey, bucketKey: row.bucketKey, box: row.box)
        return StoredRecord(record: record, sealed: sealed)
    }

    /// Runs before later requests of the partition.
    private func setAside(_ found: QuarantineQueue.Found, of partition: Partition) {
        guard !found.isEmpty, damage.found(found) else { return }
        queue.run(of: partition) { [self] in quarantineDamaged() }
    }

    /// On the vault's queue. If moving fails (a full disk), it is tried again after the next commit.
    func quarantineDamaged() {
        let found = damage.waiting
        guard !found.isEmpty else { return }
        do {
            let (moved, missing) = try vaultWriter.quarantine(found) { (row) throws(VaultError) in try isWhole(row) }
            damage.settled(found, moved: moved, missing: missing)
            if moved > 0 {
                logger.warning("damaged records were found and set aside", metadata: ["count": "\(moved)"])
            }
            if missing > 0 {
                logger.warning("records of the last commit are gone", metadata: ["count": "\(missing)"])
            }
        } catch {
            logger.warning("damaged records were found and could not be set aside yet", error: error)
        }
    }

    private func isWhole(_ row: StoredRow) throws(VaultError) -> Bool {
        do {
            guard let partition = Partition(storedAs: row.partition), let keys = try existingKeys(of: partition) else {
                return false
            }
            return try sealer.open(row, keys: keys) { _, _ in true }
        } catch {
            switch error {
            case .recordDamaged, .damaged: return false
            default: throw error
            }
        }
    }
}

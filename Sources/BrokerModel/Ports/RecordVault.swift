/// The encrypted cache for engine and access.
///
/// Loading is quick (microseconds, from the page cache) and allowed anywhere; committing waits for the disk.
package protocol RecordVault: Sendable {
    /// The records of one bucket. Rows that do not open (edited, moved, truncated), or are not those of the last commit (put
    /// back), are quarantined and left out.
    func load<Record: VaultRecord>(
        _ type: Record.Type, bucket: [String], in partition: Partition
    ) throws(VaultError) -> [StoredRecord<Record>]

    /// Every record of a kind: for lists, start-up and sign-out; not for the hot path of a request.
    func loadAll<Record: VaultRecord>(
        _ type: Record.Type, in partition: Partition
    ) throws(VaultError) -> [StoredRecord<Record>]

    /// Some records of a kind in the order of their rows, for iterating over all of them without having all in memory.
    ///
    /// - Parameter row: the last row of the previous page; 0 for the first.
    func loadPage<Record: VaultRecord>(
        _ type: Record.Type, after row: Int64, atMost count: Int, in partition: Partition
    ) throws(VaultError) -> RecordPage<Record>

    /// Encrypts; writes nothing.
    func seal<Record: VaultRecord>(
        _ record: Record, secret: Secret?, in partition: Partition
    ) throws(VaultError) -> StoredRecord<Record>

    /// One durable transaction: all of it is on disk when this returns, or nothing is.
    ///
    /// - Parameter onDisk: updates the copy in memory; runs before any later change is on disk.
    func commit(_ change: VaultChange, onDisk: @escaping @Sendable () -> Void) async throws(VaultError)

    /// The record's secret (empty if it has none), in guarded memory; the closure must be brief and not call the vault again.
    func withSecret(of sealed: SealedRecord, _ body: (UnsafeRawBufferPointer) -> Void) throws(VaultError)

    /// A keyed hash of 32 bytes: without the partition's key nobody can find out or guess what it names. It is the same as long
    /// as the partition exists.
    func name(of parts: [String], in partition: Partition) throws(VaultError) -> [UInt8]

    func statistics() throws(VaultError) -> VaultStatistics

    /// Counted from the rows, without opening them.
    func statistics(of partition: Partition) throws(VaultError) -> PartitionStatistics

    /// Whether an earlier state of all the partition's records has replaced the last one, and nobody has accepted it yet. Quick:
    /// part of the hot path.
    func isRolledBack(_ partition: Partition) -> Bool

    /// Accepts that state, and forgets records that were set aside or are gone.
    func acceptState(of partition: Partition) async throws(VaultError)
}

extension RecordVault {
    package func commit(_ change: VaultChange) async throws(VaultError) { try await commit(change) {} }

    package func secret(of sealed: SealedRecord) throws(VaultError) -> Secret {
        var secret: Secret?
        try withSecret(of: sealed) { secret = Secret(copying: $0) }
        guard let secret else { throw .recordDamaged }
        return secret
    }
}

package struct RecordPage<Record: VaultRecord>: Sendable {
    package let records: [StoredRecord<Record>]
    /// The last row that was read; `nil` if there are no more.
    package let lastRow: Int64?

    package init(records: [StoredRecord<Record>], lastRow: Int64?) {
        self.records = records
        self.lastRow = lastRow
    }
}

/// Rows to write and rows to remove, together.
package struct VaultChange: Sendable {
    package var partition: Partition
    package var puts: [SealedRecord]
    package var deletes: [RecordKey]

    package init(in partition: Partition, puts: [SealedRecord] = [], deletes: [RecordKey] = []) {
        self.partition = partition
        self.puts = puts
        self.deletes = deletes
    }

    package var isEmpty: Bool { puts.isEmpty && deletes.isEmpty }
}

package struct VaultStatistics: Sendable, Equatable {
    package var path: String
    package var keySource: String
    package var records: Int
    /// Rows found damaged and set aside since the file was made.
    package var quarantined: Int
    /// Rows of the last commit that were found missing, since the file was made.
    package var missing: Int
    /// Reads and writes that failed, since the vault was opened.
    package var errors: Int64
    /// The same as ``RecordVault/isRolledBack(_:)``, for any partition.
    package var isRolledBack: Bool

    package init(
        path: String, keySource: String, records: Int, quarantined: Int = 0, missing: Int = 0,
        errors: Int64 = 0, isRolledBack: Bool = false
    ) {
        self.path = path
        self.keySource = keySource
        self.records = records
        self.quarantined = quarantined
        self.missing = missing
        self.errors = errors
        self.isRolledBack = isRolledBack
    }
}

package struct PartitionStatistics: Sendable, Equatable {
    package var records: [RecordKind: Int] = [:]
    /// The size of the sealed records.
    package var recordBytes = 0
    /// Without the audit log.
    package var bytesWithoutLog = 0
    /// The size of the vault's files, including other users' records.
    package var fileBytes = 0

    /// The number of cached records; the audit log counts its own entries.
    package var recordsWithoutLog: Int {
        records.reduce(0) { $0 + (RecordKind.ofAuditLog.contains($1.key) ? 0 : $1.value) }
    }

    package var hasUserRecords: Bool { records.contains { kind, count in count > 0 && kind.isUserRecord } }

    package init() {}
}

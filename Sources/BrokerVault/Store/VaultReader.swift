import BrokerModel
import BrokerValues
import Synchronization

/// The connection for reads: a few microseconds each, behind a lock.
final class VaultReader: Sendable {
    /// Rows, and the manifest's entries for them, as of one moment.
    struct Snapshot: Sendable {
        var root: [UInt8]?
        var pages: [UInt8: [UInt8]]
        var rows: [StoredRow]
    }

    private let connection: Mutex<SQLiteConnection?>
    private let errors: Counter

    /// - Parameter errors: counts the reads that fail.
    init(_ connection: sending SQLiteConnection, errors: Counter) {
        self.connection = Mutex(connection)
        self.errors = errors
    }

    func read(bucketKey: [UInt8], at place: ManifestPlace) throws(VaultError) -> Snapshot {
        try read(in: place.partition) { (connection) throws(VaultError) in
            let page = try connection.manifestPage(place)
            return (
                page.map { [place.page: $0] } ?? [:],
                try connection.records("bucket_key = ?1", .blob(bucketKey))
            )
        }
    }

    func read(_ kind: RecordKind, in partition: Partition) throws(VaultError) -> Snapshot {
        try read(in: partition) { (connection) throws(VaultError) in
            (
                try connection.manifestPages(of: partition),
                try connection.records(
                    "partition = ?1 AND kind = ?2", .integer(Int64(partition.uid)), .integer(Int64(kind.rawValue)))
            )
        }
    }

    private func read(
        in partition: Partition,
        _ body: @Sendable (SQLiteConnection) throws(VaultError) -> (pages: [UInt8: [UInt8]], rows: [StoredRow])
    ) throws(VaultError) -> Snapshot {
        try withSnapshot { (connection) throws(VaultError) in
            let root = try connection.manifestRoot(of: partition)
            let (pages, rows) = try body(connection)
            return Snapshot(root: root, pages: pages, rows: rows)
        }
    }

    func wrappedKey(of partition: Partition) throws(VaultError) -> [UInt8]? {
        try withConnection { (connection) throws(VaultError) in try connection.wrappedKey(of: partition) }
    }

    func wrappedKeys() throws(VaultError) -> [Partition: [UInt8]] {
        let rows = try withConnection { (connection) throws(VaultError) in
            try connection.rows("SELECT partition, wrapped FROM partition_key") { ($0.integer(0), $0.blob(1)) }
        }
        var keys: [Partition: [UInt8]] = [:]
        for (number, wrapped) in rows {
            guard let uid = UInt32(exactly: number) else { throw Self.foreignPartition }
            keys[Partition(uid: uid)] = wrapped
        }
        return keys
    }

    private static let foreignPartition = VaultError.damaged(
        "The vault has a data key for a uid that no system has. Restore vault.db from a backup.")

    /// Some rows of a kind, in the order of their ids.
    func read(
        _ kind: RecordKind, after id: Int64, atMost count: Int, in partition: Partition
    ) throws(VaultError) -> Snapshot {
        try read(in: partition) { (connection) throws(VaultError) in
            let rows = try connection.records(
                "partition = ?1 AND kind = ?2 AND id > ?3 ORDER BY id LIMIT ?4", .integer(Int64(partition.uid)),
                .integer(Int64(kind.rawValue)), .integer(id), .integer(Int64(count)))
            var pages: [UInt8: [UInt8]] = [:]
            for page in Set(rows.compactMap(\.bucketKey.first)) {
                pages[page] = try connection.manifestPage(ManifestPlace(partition, page: page))
            }
            return (pages, rows)
        }
    }

    /// The number of cached records; the audit log counts its own entries.
    func recordCount() throws(VaultError) -> Int {
        let log = RecordKind.ofAuditLog.map { String($0.rawValue) }.joined(separator: ", ")
        return try withConnection { (connection) throws(VaultError) in
            // SQLite counts a whole table by its pages, and a partition and kind by an index. Any other condition reads every
            // row.
            try connection.integer(
                """
                SELECT (SELECT count(*) FROM record) - (SELECT count(*) FROM record
                WHERE partition IN (SELECT partition FROM partition_key) AND kind IN (\(log)))
                """)
        }
    }

    /// The number of rows of each kind, and their bytes; the kind is nil if no broker has it.
    func counts(in partition: Partition) throws(VaultError) -> [(kind: RecordKind?, count: Int, bytes: Int)] {
        try withConnection { (connection) throws(VaultError) in
            let sql = "SELECT kind, count(*), sum(length(box)) FROM record WHERE partition = ?1 GROUP BY kind"
            return try connection.rows(sql, .integer(Int64(partition.uid))) { row in
                let kind = UInt8(exactly: row.integer(0)).flatMap(RecordKind.init)
                return (kind, Int(row.integer(1)), Int(row.integer(2)))
            }
        }
    }

    /// The users with records, or a key for them, in the order of their uids.
    func partitions() throws(VaultError) -> [PartitionSummary] {
        let log = RecordKind.ofAuditLog.map { String($0.rawValue) }.joined(separator: ", ")
        let sql = """
            SELECT partition, count(record.id) FILTER (WHERE kind NOT IN (\(log))), ifnull(sum(length(box)), 0)
            FROM partition_key LEFT JOIN record USING (partition) GROUP BY partition ORDER BY partition
            """
        let rows = try withConnection { (connection) throws(VaultError) in
            try connection.rows(sql) { ($0.integer(0), Int($0.integer(1)), Int($0.integer(2))) }
        }
        return rows.compactMap { number, count, bytes in
            guard let uid = UInt32(exactly: number), uid != Partition.wholeVault.uid else { return nil }
            return PartitionSummary(partition: Partition(uid: uid), records: count, bytes: bytes)
        }
    }

    func forgetPages() { connection.withLock { $0?.forgetPages() } }

    func close() { connection.withLock { $0 = nil } }

    func withSnapshot<Result: Sendable>(
        _ body: @Sendable (SQLiteConnection) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        try withConnection { (connection) throws(VaultError) in try connection.snapshot(body) }
    }

    private func withConnection<Result: Sendable>(
        _ body: @Sendable (SQLiteConnection) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        do throws(VaultError) {
            return try connection.withLock { (connection) throws(VaultError) in
                guard let connection else { throw VaultError.closed }
                return try body(connection)
            }
        } catch {
            errors.add()
            throw error
        }
    }
}

extension SQLiteConnection {
    /// - Parameter condition: constant text.
    func records(_ condition: StaticString, _ values: SQLValue...) throws(VaultError) -> [StoredRow] {
        try rows(
            "SELECT id, partition, kind, row_key, bucket_key, box FROM record WHERE \(condition)", values: values,
            read: StoredRow.init)
    }
}

extension StoredRow {
    init(_ row: Row) {
        self.init(
            id: row.integer(0), partition: row.integer(1), kind: row.integer(2), rowKey: row.blob(3),
            bucketKey: row.blob(4), box: row.blob(5))
    }
}

import BrokerModel
import Synchronization

/// The connection that answers look-ups: a few microseconds each, behind a lock.
final class VaultReader: Sendable {
    private static let columns = "id, partition, kind, row_key, bucket_key, box"
    private let connection: Mutex<SQLiteConnection?>

    init(_ connection: sending SQLiteConnection) { self.connection = Mutex(connection) }

    func rows(bucketKey: [UInt8]) throws(VaultError) -> [StoredRow] {
        try withConnection { (connection) throws(VaultError) in
            let sql = "SELECT \(Self.columns) FROM record WHERE bucket_key = ?1"
            return try connection.rows(sql, .blob(bucketKey), read: StoredRow.init)
        }
    }

    func rows(_ kind: RecordKind, in partition: Partition) throws(VaultError) -> [StoredRow] {
        try withConnection { (connection) throws(VaultError) in
            let sql = "SELECT \(Self.columns) FROM record WHERE partition = ?1 AND kind = ?2"
            return try connection.rows(
                sql, .integer(Int64(partition.uid)), .integer(Int64(kind.rawValue)), read: StoredRow.init)
        }
    }

    func wrappedKey(of partition: Partition) throws(VaultError) -> [UInt8]? {
        try withConnection { (connection) throws(VaultError) in
            let sql = "SELECT wrapped FROM partition_key WHERE partition = ?1"
            return try connection.rows(sql, .integer(Int64(partition.uid))) { $0.blob(0) }.first
        }
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

    /// Some rows of a partition, in the order of their ids.
    func rows(after id: Int64, in partition: Partition, atMost count: Int) throws(VaultError) -> [StoredRow] {
        try withConnection { (connection) throws(VaultError) in
            let sql = "SELECT \(Self.columns) FROM record WHERE partition = ?1 AND id > ?2 ORDER BY id LIMIT ?3"
            return try connection.rows(
                sql, .integer(Int64(partition.uid)), .integer(id), .integer(Int64(count)), read: StoredRow.init)
        }
    }

    /// The same, of one kind.
    func rows(
        _ kind: RecordKind, after id: Int64, in partition: Partition, atMost count: Int
    ) throws(VaultError) -> [StoredRow] {
        try withConnection { (connection) throws(VaultError) in
            let sql = """
                SELECT \(Self.columns) FROM record WHERE partition = ?1 AND kind = ?2 AND id > ?3 ORDER BY id LIMIT ?4
                """
            return try connection.rows(
                sql, .integer(Int64(partition.uid)), .integer(Int64(kind.rawValue)), .integer(id),
                .integer(Int64(count)), read: StoredRow.init)
        }
    }

    func recordCount() throws(VaultError) -> Int {
        try withConnection { (connection) throws(VaultError) in
            try connection.integer("SELECT count(*) FROM record")
        }
    }

    /// Of each kind how many rows there are, and their bytes; nil for a kind that no broker has.
    func counts(in partition: Partition) throws(VaultError) -> [(kind: RecordKind?, count: Int, bytes: Int)] {
        try withConnection { (connection) throws(VaultError) in
            let sql = "SELECT kind, count(*), sum(length(box)) FROM record WHERE partition = ?1 GROUP BY kind"
            return try connection.rows(sql, .integer(Int64(partition.uid))) { row in
                let kind = UInt8(exactly: row.integer(0)).flatMap(RecordKind.init)
                return (kind, Int(row.integer(1)), Int(row.integer(2)))
            }
        }
    }

    func close() { connection.withLock { $0 = nil } }

    private func withConnection<Result: Sendable>(
        _ body: @Sendable (SQLiteConnection) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        try connection.withLock { (connection) throws(VaultError) in
            guard let connection else { throw VaultError.closed }
            return try body(connection)
        }
    }
}

extension StoredRow {
    init(_ row: Row) {
        self.init(
            id: row.integer(0), partition: row.integer(1), kind: row.integer(2), rowKey: row.blob(3),
            bucketKey: row.blob(4), box: row.blob(5))
    }
}

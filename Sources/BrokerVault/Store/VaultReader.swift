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

    func recordCount() throws(VaultError) -> Int {
        try withConnection { (connection) throws(VaultError) in
            try connection.integer("SELECT count(*) FROM record")
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

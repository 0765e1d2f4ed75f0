import BrokerModel
import BrokerVault

/// The statements that read.
extension SQLiteConnection: RowSnapshot {
    func header() throws(VaultError) -> [String: [UInt8]] {
        let values = try rows("SELECT name, value FROM header") { ($0.text(0), $0.blob(1)) }
        return Dictionary(values, uniquingKeysWith: { first, _ in first })
    }

    func wrappedKey(of partition: Partition) throws(VaultError) -> [UInt8]? {
        try rows("SELECT wrapped FROM partition_key WHERE partition = ?1", .partition(partition)) { $0.blob(0) }.first
    }

    func wrappedKeys() throws(VaultError) -> [Int64: [UInt8]] {
        let keys = try rows("SELECT partition, wrapped FROM partition_key") { ($0.integer(0), $0.blob(1)) }
        return Dictionary(keys, uniquingKeysWith: { first, _ in first })
    }

    func manifest(of partition: Partition) throws(VaultError) -> [UInt8]? {
        try rows("SELECT box FROM manifest WHERE partition = ?1", .partition(partition)) { $0.blob(0) }.first
    }

    func manifestPage(_ place: ManifestPlace) throws(VaultError) -> [UInt8]? {
        try rows("SELECT box FROM manifest_page WHERE id = ?1", .integer(place.id)) { $0.blob(0) }.first
    }

    func manifestPages(of partition: Partition) throws(VaultError) -> [UInt8: [UInt8]] {
        let (first, last) = ManifestPlace.ids(of: partition)
        let pages = try rows(
            "SELECT id, box FROM manifest_page WHERE id BETWEEN ?1 AND ?2", .integer(first), .integer(last)
        ) { (UInt8(truncatingIfNeeded: $0.integer(0)), $0.blob(1)) }
        return Dictionary(pages, uniquingKeysWith: { first, _ in first })
    }

    func records(_ wanted: RowSelection) throws(VaultError) -> [StoredRow] {
        switch wanted {
        case .id(let id): try records("id = ?1", .integer(id))
        case .bucket(let key): try records("bucket_key = ?1", .blob(key))
        case .page(let place):
            try records(
                "bucket_key >= ?1 AND bucket_key < ?2 AND partition = ?3", .blob([place.page]),
                .blob(place.page == .max ? [UInt8](repeating: .max, count: 64) : [place.page + 1]),
                .partition(place.partition))
        case .kind(let kind, let partition):
            try records("partition = ?1 AND kind = ?2", .partition(partition), .kind(kind))
        case .next(let kind, let partition, let id, let count):
            try records(
                "partition = ?1 AND kind = ?2 AND id > ?3 ORDER BY id LIMIT ?4", .partition(partition), .kind(kind),
                .integer(id), .integer(Int64(count)))
        case .any(let id, let count):
            try records("id > ?1 ORDER BY id LIMIT ?2", .integer(id), .integer(Int64(count)))
        }
    }

    /// - Parameter condition: constant text.
    private func records(_ condition: StaticString, _ values: SQLValue...) throws(VaultError) -> [StoredRow] {
        try rows(
            "SELECT id, partition, kind, row_key, bucket_key, box FROM record WHERE \(condition)", values: values
        ) {
            StoredRow(
                id: $0.integer(0), partition: $0.integer(1), kind: $0.integer(2), rowKey: $0.blob(3),
                bucketKey: $0.blob(4), box: $0.blob(5))
        }
    }

    /// SQLite counts a whole table by its pages, and a partition and kind by an index. Any other condition reads every row.
    func recordCount(without kinds: Set<RecordKind>) throws(VaultError) -> Int {
        try integer(
            """
            SELECT (SELECT count(*) FROM record) - (SELECT count(*) FROM record
            WHERE partition IN (SELECT partition FROM partition_key) AND kind IN (\(list(kinds))))
            """)
    }

    func counts(in partition: Partition) throws(VaultError) -> [RowCount] {
        try rows(
            "SELECT kind, count(*), sum(length(box)) FROM record WHERE partition = ?1 GROUP BY kind",
            .partition(partition), read: RowCount.init)
    }

    func counts(without kinds: Set<RecordKind>) throws(VaultError) -> [RowCount] {
        try rows(
            """
            SELECT partition, count(record.id) FILTER (WHERE kind NOT IN (\(list(kinds)))), ifnull(sum(length(box)), 0)
            FROM partition_key LEFT JOIN record USING (partition) GROUP BY partition ORDER BY partition
            """, read: RowCount.init)
    }

    func quarantined() throws(VaultError) -> (moved: Int, missing: Int) {
        (
            try integer("SELECT count(*) FROM quarantine WHERE box IS NOT NULL"),
            try integer("SELECT count(*) FROM quarantine WHERE box IS NULL")
        )
    }

    private func list(_ kinds: Set<RecordKind>) -> String {
        kinds.map { String($0.rawValue) }.joined(separator: ", ")
    }
}

/// The statements that write.
extension SQLiteConnection: RowTransaction {
    func putHeader(_ value: [UInt8]?, named name: String) throws(VaultError) {
        if let value {
            try run("INSERT OR REPLACE INTO header (name, value) VALUES (?1, ?2)", .text(name), .blob(value))
        } else {
            try run("DELETE FROM header WHERE name = ?1", .text(name))
        }
    }

    func putWrappedKey(_ wrapped: [UInt8]?, of partition: Partition) throws(VaultError) {
        if let wrapped {
            try run(
                "INSERT OR REPLACE INTO partition_key (partition, wrapped) VALUES (?1, ?2)", .partition(partition),
                .blob(wrapped))
        } else {
            try run("DELETE FROM partition_key WHERE partition = ?1", .partition(partition))
        }
    }

    func putManifest(_ box: [UInt8], of partition: Partition) throws(VaultError) {
        try run("INSERT OR REPLACE INTO manifest (partition, box) VALUES (?1, ?2)", .partition(partition), .blob(box))
    }

    func putManifestPage(_ box: [UInt8]?, at place: ManifestPlace) throws(VaultError) {
        if let box {
            try run(
                "INSERT OR REPLACE INTO manifest_page (id, box) VALUES (?1, ?2)", .integer(place.id), .blob(box))
        } else {
            try run("DELETE FROM manifest_page WHERE id = ?1", .integer(place.id))
        }
    }

    func put(_ record: SealedRecord) throws(VaultError) {
        try run(
            """
            INSERT INTO record (partition, kind, row_key, bucket_key, box) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (row_key) DO UPDATE SET partition = excluded.partition, kind = excluded.kind,
            bucket_key = excluded.bucket_key, box = excluded.box
            """, .partition(record.partition), .kind(record.kind), .blob(record.rowKey), .blob(record.bucketKey),
            .blob(record.box))
    }

    /// A box of the same length is overwritten in place, and no index is touched.
    func replaceBox(of row: StoredRow, by box: [UInt8]) throws(VaultError) {
        try run("UPDATE record SET box = ?2 WHERE id = ?1", .integer(row.id), .blob(box))
    }

    func remove(rowKey: [UInt8]) throws(VaultError) {
        try run("DELETE FROM record WHERE row_key = ?1", .blob(rowKey))
    }

    func setAside(_ row: StoredRow) throws(VaultError) {
        try run(
            """
            INSERT INTO quarantine (partition, kind, row_key, bucket_key, box)
            SELECT partition, kind, row_key, bucket_key, box FROM record WHERE id = ?1
            """, .integer(row.id))
        try run("DELETE FROM record WHERE id = ?1", .integer(row.id))
    }

    func noteMissing(kind: UInt8, in partition: Partition) throws(VaultError) {
        try run(
            "INSERT INTO quarantine (partition, kind) VALUES (?1, ?2)", .partition(partition), .integer(Int64(kind)))
    }

    func emptyQuarantine(of partition: Partition) throws(VaultError) {
        try run(
            "DELETE FROM quarantine WHERE partition = ?1 OR partition NOT IN (SELECT partition FROM partition_key)",
            .partition(partition))
    }

    func erase(_ partition: Partition) throws(VaultError) {
        for table in ["record", "quarantine", "manifest", "partition_key"] {
            try run("DELETE FROM \(table) WHERE partition = ?1", .partition(partition))
        }
        let (first, last) = ManifestPlace.ids(of: partition)
        try run("DELETE FROM manifest_page WHERE id BETWEEN ?1 AND ?2", .integer(first), .integer(last))
    }

    func raiseFormat() throws(VaultError) {
        for statement in SQLiteSchema.manifest { try run(statement) }
        try run("PRAGMA user_version = \(VaultFormat.current)")
    }
}

extension SQLValue {
    fileprivate static func partition(_ partition: Partition) -> SQLValue { .integer(Int64(partition.uid)) }
    fileprivate static func kind(_ kind: RecordKind) -> SQLValue { .integer(Int64(kind.rawValue)) }
}

extension ManifestPlace {
    /// The page's row in the table.
    fileprivate var id: Int64 { Int64(partition.uid) << 8 | Int64(page) }

    fileprivate static func ids(of partition: Partition) -> (first: Int64, last: Int64) {
        (ManifestPlace(partition, page: .min).id, ManifestPlace(partition, page: .max).id)
    }
}

extension RowCount {
    fileprivate init(_ row: Row) {
        self.init(number: row.integer(0), rows: Int(row.integer(1)), bytes: Int(row.integer(2)))
    }
}

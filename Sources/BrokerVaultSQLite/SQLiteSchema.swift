import BrokerVault

/// The file's name, its tables, and how it is recognised.
enum SQLiteSchema {
    /// SQLite's application id: "TkBr".
    static let applicationID = 0x546B_4272

    static let fileName = "vault.db"
    static let logName = "vault.db-wal"
    /// Files that SQLite may read or write next to a database, by the end of their names.
    static let sideSuffixes = ["-wal", "-shm", "-journal"]
    static var sideFiles: [String] { sideSuffixes.map { fileName + $0 } }

    /// A vault has exactly these objects. An additional one could be a trigger that an attacker added.
    static func tables(of format: Int) -> [String] { format == VaultFormat.oldest ? first : first + manifest }

    /// Not in format 1: a sealed list of all rows for each partition, and for the whole vault (as a partition that cannot exist).
    /// A page's id is its partition times 256, plus its number.
    static let manifest = [
        "CREATE TABLE manifest (partition INTEGER PRIMARY KEY, box BLOB NOT NULL) STRICT",
        "CREATE TABLE manifest_page (id INTEGER PRIMARY KEY, box BLOB NOT NULL) STRICT",
    ]

    private static let first = [
        "CREATE TABLE header (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID",
        "CREATE TABLE partition_key (partition INTEGER PRIMARY KEY, wrapped BLOB NOT NULL) STRICT",
        """
        CREATE TABLE record (id INTEGER PRIMARY KEY, partition INTEGER NOT NULL, kind INTEGER NOT NULL, \
        row_key BLOB NOT NULL UNIQUE, bucket_key BLOB NOT NULL, box BLOB NOT NULL) STRICT
        """,
        "CREATE INDEX record_by_bucket ON record (bucket_key)",
        "CREATE INDEX record_by_kind ON record (partition, kind)",
        // Damaged rows as they were found; columns without types, because they may contain anything. A row without a box
        // represents one that is gone.
        "CREATE TABLE quarantine (id INTEGER PRIMARY KEY, partition, kind, row_key, bucket_key, box)",
    ]
}
